module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<65x256xf32>, %arg1: tensor<1024x256xf32>, %arg2: tensor<256x4x64xf32>, %arg3: tensor<256xf32>, %arg4: tensor<256xf32>, %arg5: tensor<256xf32>, %arg6: tensor<256xf32>, %arg7: tensor<4x64x256xf32>, %arg8: tensor<256x4x64xf32>, %arg9: tensor<256x1024xf32>, %arg10: tensor<1024xf32>, %arg11: tensor<256x4x64xf32>, %arg12: tensor<1024x256xf32>, %arg13: tensor<256x4x64xf32>, %arg14: tensor<256xf32>, %arg15: tensor<256xf32>, %arg16: tensor<256xf32>, %arg17: tensor<256xf32>, %arg18: tensor<4x64x256xf32>, %arg19: tensor<256x4x64xf32>, %arg20: tensor<256x1024xf32>, %arg21: tensor<1024xf32>, %arg22: tensor<256x4x64xf32>, %arg23: tensor<1024x256xf32>, %arg24: tensor<256x4x64xf32>, %arg25: tensor<256xf32>, %arg26: tensor<256xf32>, %arg27: tensor<256xf32>, %arg28: tensor<256xf32>, %arg29: tensor<4x64x256xf32>, %arg30: tensor<256x4x64xf32>, %arg31: tensor<256x1024xf32>, %arg32: tensor<1024xf32>, %arg33: tensor<256x4x64xf32>, %arg34: tensor<1024x256xf32>, %arg35: tensor<256x4x64xf32>, %arg36: tensor<256xf32>, %arg37: tensor<256xf32>, %arg38: tensor<256xf32>, %arg39: tensor<256xf32>, %arg40: tensor<4x64x256xf32>, %arg41: tensor<256x4x64xf32>, %arg42: tensor<256x1024xf32>, %arg43: tensor<1024xf32>, %arg44: tensor<256x4x64xf32>, %arg45: tensor<256xf32>, %arg46: tensor<256xf32>, %arg47: tensor<256x65xf32>, %arg48: tensor<128x256xf32>, %arg49: tensor<i32>, %arg50: tensor<65x256xf32>, %arg51: tensor<1024x256xf32>, %arg52: tensor<256x4x64xf32>, %arg53: tensor<256xf32>, %arg54: tensor<256xf32>, %arg55: tensor<256xf32>, %arg56: tensor<256xf32>, %arg57: tensor<4x64x256xf32>, %arg58: tensor<256x4x64xf32>, %arg59: tensor<256x1024xf32>, %arg60: tensor<1024xf32>, %arg61: tensor<256x4x64xf32>, %arg62: tensor<1024x256xf32>, %arg63: tensor<256x4x64xf32>, %arg64: tensor<256xf32>, %arg65: tensor<256xf32>, %arg66: tensor<256xf32>, %arg67: tensor<256xf32>, %arg68: tensor<4x64x256xf32>, %arg69: tensor<256x4x64xf32>, %arg70: tensor<256x1024xf32>, %arg71: tensor<1024xf32>, %arg72: tensor<256x4x64xf32>, %arg73: tensor<1024x256xf32>, %arg74: tensor<256x4x64xf32>, %arg75: tensor<256xf32>, %arg76: tensor<256xf32>, %arg77: tensor<256xf32>, %arg78: tensor<256xf32>, %arg79: tensor<4x64x256xf32>, %arg80: tensor<256x4x64xf32>, %arg81: tensor<256x1024xf32>, %arg82: tensor<1024xf32>, %arg83: tensor<256x4x64xf32>, %arg84: tensor<1024x256xf32>, %arg85: tensor<256x4x64xf32>, %arg86: tensor<256xf32>, %arg87: tensor<256xf32>, %arg88: tensor<256xf32>, %arg89: tensor<256xf32>, %arg90: tensor<4x64x256xf32>, %arg91: tensor<256x4x64xf32>, %arg92: tensor<256x1024xf32>, %arg93: tensor<1024xf32>, %arg94: tensor<256x4x64xf32>, %arg95: tensor<256xf32>, %arg96: tensor<256xf32>, %arg97: tensor<256x65xf32>, %arg98: tensor<128x256xf32>, %arg99: tensor<65x256xf32>, %arg100: tensor<1024x256xf32>, %arg101: tensor<256x4x64xf32>, %arg102: tensor<256xf32>, %arg103: tensor<256xf32>, %arg104: tensor<256xf32>, %arg105: tensor<256xf32>, %arg106: tensor<4x64x256xf32>, %arg107: tensor<256x4x64xf32>, %arg108: tensor<256x1024xf32>, %arg109: tensor<1024xf32>, %arg110: tensor<256x4x64xf32>, %arg111: tensor<1024x256xf32>, %arg112: tensor<256x4x64xf32>, %arg113: tensor<256xf32>, %arg114: tensor<256xf32>, %arg115: tensor<256xf32>, %arg116: tensor<256xf32>, %arg117: tensor<4x64x256xf32>, %arg118: tensor<256x4x64xf32>, %arg119: tensor<256x1024xf32>, %arg120: tensor<1024xf32>, %arg121: tensor<256x4x64xf32>, %arg122: tensor<1024x256xf32>, %arg123: tensor<256x4x64xf32>, %arg124: tensor<256xf32>, %arg125: tensor<256xf32>, %arg126: tensor<256xf32>, %arg127: tensor<256xf32>, %arg128: tensor<4x64x256xf32>, %arg129: tensor<256x4x64xf32>, %arg130: tensor<256x1024xf32>, %arg131: tensor<1024xf32>, %arg132: tensor<256x4x64xf32>, %arg133: tensor<1024x256xf32>, %arg134: tensor<256x4x64xf32>, %arg135: tensor<256xf32>, %arg136: tensor<256xf32>, %arg137: tensor<256xf32>, %arg138: tensor<256xf32>, %arg139: tensor<4x64x256xf32>, %arg140: tensor<256x4x64xf32>, %arg141: tensor<256x1024xf32>, %arg142: tensor<1024xf32>, %arg143: tensor<256x4x64xf32>, %arg144: tensor<256xf32>, %arg145: tensor<256xf32>, %arg146: tensor<256x65xf32>, %arg147: tensor<128x256xf32>, %arg148: tensor<8x128xi32>, %arg149: tensor<8x128xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<65x256xf32> {jax.result_info = "result[1]['embedding']"}, tensor<1024x256xf32> {jax.result_info = "result[1]['layers'][0]['down']"}, tensor<256x4x64xf32> {jax.result_info = "result[1]['layers'][0]['k']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][0]['norm1'][0]"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][0]['norm1'][1]"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][0]['norm2'][0]"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][0]['norm2'][1]"}, tensor<4x64x256xf32> {jax.result_info = "result[1]['layers'][0]['o']"}, tensor<256x4x64xf32> {jax.result_info = "result[1]['layers'][0]['q']"}, tensor<256x1024xf32> {jax.result_info = "result[1]['layers'][0]['up']"}, tensor<1024xf32> {jax.result_info = "result[1]['layers'][0]['up_bias']"}, tensor<256x4x64xf32> {jax.result_info = "result[1]['layers'][0]['v']"}, tensor<1024x256xf32> {jax.result_info = "result[1]['layers'][1]['down']"}, tensor<256x4x64xf32> {jax.result_info = "result[1]['layers'][1]['k']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][1]['norm1'][0]"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][1]['norm1'][1]"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][1]['norm2'][0]"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][1]['norm2'][1]"}, tensor<4x64x256xf32> {jax.result_info = "result[1]['layers'][1]['o']"}, tensor<256x4x64xf32> {jax.result_info = "result[1]['layers'][1]['q']"}, tensor<256x1024xf32> {jax.result_info = "result[1]['layers'][1]['up']"}, tensor<1024xf32> {jax.result_info = "result[1]['layers'][1]['up_bias']"}, tensor<256x4x64xf32> {jax.result_info = "result[1]['layers'][1]['v']"}, tensor<1024x256xf32> {jax.result_info = "result[1]['layers'][2]['down']"}, tensor<256x4x64xf32> {jax.result_info = "result[1]['layers'][2]['k']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][2]['norm1'][0]"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][2]['norm1'][1]"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][2]['norm2'][0]"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][2]['norm2'][1]"}, tensor<4x64x256xf32> {jax.result_info = "result[1]['layers'][2]['o']"}, tensor<256x4x64xf32> {jax.result_info = "result[1]['layers'][2]['q']"}, tensor<256x1024xf32> {jax.result_info = "result[1]['layers'][2]['up']"}, tensor<1024xf32> {jax.result_info = "result[1]['layers'][2]['up_bias']"}, tensor<256x4x64xf32> {jax.result_info = "result[1]['layers'][2]['v']"}, tensor<1024x256xf32> {jax.result_info = "result[1]['layers'][3]['down']"}, tensor<256x4x64xf32> {jax.result_info = "result[1]['layers'][3]['k']"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][3]['norm1'][0]"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][3]['norm1'][1]"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][3]['norm2'][0]"}, tensor<256xf32> {jax.result_info = "result[1]['layers'][3]['norm2'][1]"}, tensor<4x64x256xf32> {jax.result_info = "result[1]['layers'][3]['o']"}, tensor<256x4x64xf32> {jax.result_info = "result[1]['layers'][3]['q']"}, tensor<256x1024xf32> {jax.result_info = "result[1]['layers'][3]['up']"}, tensor<1024xf32> {jax.result_info = "result[1]['layers'][3]['up_bias']"}, tensor<256x4x64xf32> {jax.result_info = "result[1]['layers'][3]['v']"}, tensor<256xf32> {jax.result_info = "result[1]['norm'][0]"}, tensor<256xf32> {jax.result_info = "result[1]['norm'][1]"}, tensor<256x65xf32> {jax.result_info = "result[1]['out']"}, tensor<128x256xf32> {jax.result_info = "result[1]['position']"}, tensor<i32> {jax.result_info = "result[2][0]"}, tensor<65x256xf32> {jax.result_info = "result[2][1]['embedding']"}, tensor<1024x256xf32> {jax.result_info = "result[2][1]['layers'][0]['down']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][1]['layers'][0]['k']"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][0]['norm1'][0]"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][0]['norm1'][1]"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][0]['norm2'][0]"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][0]['norm2'][1]"}, tensor<4x64x256xf32> {jax.result_info = "result[2][1]['layers'][0]['o']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][1]['layers'][0]['q']"}, tensor<256x1024xf32> {jax.result_info = "result[2][1]['layers'][0]['up']"}, tensor<1024xf32> {jax.result_info = "result[2][1]['layers'][0]['up_bias']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][1]['layers'][0]['v']"}, tensor<1024x256xf32> {jax.result_info = "result[2][1]['layers'][1]['down']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][1]['layers'][1]['k']"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][1]['norm1'][0]"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][1]['norm1'][1]"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][1]['norm2'][0]"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][1]['norm2'][1]"}, tensor<4x64x256xf32> {jax.result_info = "result[2][1]['layers'][1]['o']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][1]['layers'][1]['q']"}, tensor<256x1024xf32> {jax.result_info = "result[2][1]['layers'][1]['up']"}, tensor<1024xf32> {jax.result_info = "result[2][1]['layers'][1]['up_bias']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][1]['layers'][1]['v']"}, tensor<1024x256xf32> {jax.result_info = "result[2][1]['layers'][2]['down']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][1]['layers'][2]['k']"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][2]['norm1'][0]"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][2]['norm1'][1]"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][2]['norm2'][0]"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][2]['norm2'][1]"}, tensor<4x64x256xf32> {jax.result_info = "result[2][1]['layers'][2]['o']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][1]['layers'][2]['q']"}, tensor<256x1024xf32> {jax.result_info = "result[2][1]['layers'][2]['up']"}, tensor<1024xf32> {jax.result_info = "result[2][1]['layers'][2]['up_bias']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][1]['layers'][2]['v']"}, tensor<1024x256xf32> {jax.result_info = "result[2][1]['layers'][3]['down']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][1]['layers'][3]['k']"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][3]['norm1'][0]"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][3]['norm1'][1]"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][3]['norm2'][0]"}, tensor<256xf32> {jax.result_info = "result[2][1]['layers'][3]['norm2'][1]"}, tensor<4x64x256xf32> {jax.result_info = "result[2][1]['layers'][3]['o']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][1]['layers'][3]['q']"}, tensor<256x1024xf32> {jax.result_info = "result[2][1]['layers'][3]['up']"}, tensor<1024xf32> {jax.result_info = "result[2][1]['layers'][3]['up_bias']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][1]['layers'][3]['v']"}, tensor<256xf32> {jax.result_info = "result[2][1]['norm'][0]"}, tensor<256xf32> {jax.result_info = "result[2][1]['norm'][1]"}, tensor<256x65xf32> {jax.result_info = "result[2][1]['out']"}, tensor<128x256xf32> {jax.result_info = "result[2][1]['position']"}, tensor<65x256xf32> {jax.result_info = "result[2][2]['embedding']"}, tensor<1024x256xf32> {jax.result_info = "result[2][2]['layers'][0]['down']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][2]['layers'][0]['k']"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][0]['norm1'][0]"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][0]['norm1'][1]"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][0]['norm2'][0]"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][0]['norm2'][1]"}, tensor<4x64x256xf32> {jax.result_info = "result[2][2]['layers'][0]['o']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][2]['layers'][0]['q']"}, tensor<256x1024xf32> {jax.result_info = "result[2][2]['layers'][0]['up']"}, tensor<1024xf32> {jax.result_info = "result[2][2]['layers'][0]['up_bias']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][2]['layers'][0]['v']"}, tensor<1024x256xf32> {jax.result_info = "result[2][2]['layers'][1]['down']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][2]['layers'][1]['k']"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][1]['norm1'][0]"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][1]['norm1'][1]"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][1]['norm2'][0]"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][1]['norm2'][1]"}, tensor<4x64x256xf32> {jax.result_info = "result[2][2]['layers'][1]['o']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][2]['layers'][1]['q']"}, tensor<256x1024xf32> {jax.result_info = "result[2][2]['layers'][1]['up']"}, tensor<1024xf32> {jax.result_info = "result[2][2]['layers'][1]['up_bias']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][2]['layers'][1]['v']"}, tensor<1024x256xf32> {jax.result_info = "result[2][2]['layers'][2]['down']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][2]['layers'][2]['k']"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][2]['norm1'][0]"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][2]['norm1'][1]"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][2]['norm2'][0]"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][2]['norm2'][1]"}, tensor<4x64x256xf32> {jax.result_info = "result[2][2]['layers'][2]['o']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][2]['layers'][2]['q']"}, tensor<256x1024xf32> {jax.result_info = "result[2][2]['layers'][2]['up']"}, tensor<1024xf32> {jax.result_info = "result[2][2]['layers'][2]['up_bias']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][2]['layers'][2]['v']"}, tensor<1024x256xf32> {jax.result_info = "result[2][2]['layers'][3]['down']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][2]['layers'][3]['k']"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][3]['norm1'][0]"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][3]['norm1'][1]"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][3]['norm2'][0]"}, tensor<256xf32> {jax.result_info = "result[2][2]['layers'][3]['norm2'][1]"}, tensor<4x64x256xf32> {jax.result_info = "result[2][2]['layers'][3]['o']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][2]['layers'][3]['q']"}, tensor<256x1024xf32> {jax.result_info = "result[2][2]['layers'][3]['up']"}, tensor<1024xf32> {jax.result_info = "result[2][2]['layers'][3]['up_bias']"}, tensor<256x4x64xf32> {jax.result_info = "result[2][2]['layers'][3]['v']"}, tensor<256xf32> {jax.result_info = "result[2][2]['norm'][0]"}, tensor<256xf32> {jax.result_info = "result[2][2]['norm'][1]"}, tensor<256x65xf32> {jax.result_info = "result[2][2]['out']"}, tensor<128x256xf32> {jax.result_info = "result[2][2]['position']"}) {
    %0:2 = call @_take(%arg0, %arg148) : (tensor<65x256xf32>, tensor<8x128xi32>) -> (tensor<8x128x256xf32>, tensor<8x128x1xi32>)
    %1 = stablehlo.broadcast_in_dim %arg48, dims = [1, 2] : (tensor<128x256xf32>) -> tensor<1x128x256xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x128x256xf32>) -> tensor<8x128x256xf32>
    %3 = stablehlo.add %0#0, %2 : tensor<8x128x256xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_0 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %7 = stablehlo.divide %5, %6 : tensor<8x128x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %9 = stablehlo.subtract %3, %8 : tensor<8x128x256xf32>
    %10 = stablehlo.multiply %9, %9 : tensor<8x128x256xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_2 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %14 = stablehlo.divide %12, %13 : tensor<8x128x1xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %16 = stablehlo.add %14, %15 : tensor<8x128x1xf32>
    %17 = stablehlo.rsqrt %16 : tensor<8x128x1xf32>
    %18 = stablehlo.divide %17, %16 : tensor<8x128x1xf32>
    %cst_4 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %20 = stablehlo.multiply %19, %18 : tensor<8x128x1xf32>
    %21 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %22 = stablehlo.multiply %9, %21 : tensor<8x128x256xf32>
    %23 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %25 = stablehlo.multiply %22, %24 : tensor<8x128x256xf32>
    %26 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %28 = stablehlo.add %25, %27 : tensor<8x128x256xf32>
    %29 = stablehlo.dot_general %arg8, %28, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x4x64xf32>, tensor<8x128x256xf32>) -> tensor<4x64x8x128xf32>
    %30 = stablehlo.transpose %29, dims = [2, 0, 3, 1] : (tensor<4x64x8x128xf32>) -> tensor<8x4x128x64xf32>
    %31 = stablehlo.dot_general %arg2, %28, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x4x64xf32>, tensor<8x128x256xf32>) -> tensor<4x64x8x128xf32>
    %32 = stablehlo.transpose %31, dims = [2, 0, 3, 1] : (tensor<4x64x8x128xf32>) -> tensor<8x4x128x64xf32>
    %33 = stablehlo.dot_general %arg11, %28, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x4x64xf32>, tensor<8x128x256xf32>) -> tensor<4x64x8x128xf32>
    %34 = stablehlo.transpose %33, dims = [2, 0, 3, 1] : (tensor<4x64x8x128xf32>) -> tensor<8x4x128x64xf32>
    %35 = stablehlo.dot_general %30, %32, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x128xf32>
    %cst_5 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x4x128x128xf32>
    %37 = stablehlo.divide %35, %36 : tensor<8x4x128x128xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %38 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %39 = call @tril(%38) : (tensor<128x128xi1>) -> tensor<128x128xi1>
    %cst_6 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %40:3 = call @_where_0(%39, %37, %cst_6) : (tensor<128x128xi1>, tensor<8x4x128x128xf32>, tensor<f32>) -> (tensor<8x4x128x128xf32>, tensor<8x4x128x128xi1>, tensor<8x4x128x128xf32>)
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %41 = stablehlo.reduce(%40#0 init: %cst_7) applies stablehlo.maximum across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %42 = stablehlo.reshape %41 : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %44 = stablehlo.compare EQ, %40#0, %43, FLOAT : (tensor<8x4x128x128xf32>, tensor<8x4x128x128xf32>) -> tensor<8x4x128x128xi1>
    %45 = stablehlo.convert %44 : (tensor<8x4x128x128xi1>) -> tensor<8x4x128x128xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %48 = stablehlo.maximum %47, %41 : tensor<8x4x128xf32>
    %49 = stablehlo.compare EQ, %41, %48, FLOAT : (tensor<8x4x128xf32>, tensor<8x4x128xf32>) -> tensor<8x4x128xi1>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %52 = stablehlo.select %49, %50, %51 : tensor<8x4x128xi1>, tensor<8x4x128xf32>
    %cst_12 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %54 = stablehlo.compare EQ, %53, %48, FLOAT : (tensor<8x4x128xf32>, tensor<8x4x128xf32>) -> tensor<8x4x128xi1>
    %cst_13 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %57 = stablehlo.select %54, %55, %56 : tensor<8x4x128xi1>, tensor<8x4x128xf32>
    %58 = stablehlo.divide %52, %57 : tensor<8x4x128xf32>
    %59 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2] : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %61 = stablehlo.subtract %40#0, %60 : tensor<8x4x128x128xf32>
    %62 = stablehlo.exponential %61 : tensor<8x4x128x128xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.reduce(%62 init: %cst_15) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2] : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %66 = stablehlo.divide %62, %65 : tensor<8x4x128x128xf32>
    %67 = stablehlo.multiply %64, %64 : tensor<8x4x128x1xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x4x128x1xf32>
    %69 = stablehlo.divide %68, %67 : tensor<8x4x128x1xf32>
    %70 = stablehlo.dot_general %66, %34, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x128xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x64xf32>
    %71 = stablehlo.dot_general %70, %arg7, contracting_dims = [3, 1] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<4x64x256xf32>) -> tensor<8x128x256xf32>
    %72 = stablehlo.add %3, %71 : tensor<8x128x256xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %73 = stablehlo.reduce(%72 init: %cst_17) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %74 = stablehlo.broadcast_in_dim %73, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_18 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %76 = stablehlo.divide %74, %75 : tensor<8x128x1xf32>
    %77 = stablehlo.broadcast_in_dim %76, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %78 = stablehlo.subtract %72, %77 : tensor<8x128x256xf32>
    %79 = stablehlo.multiply %78, %78 : tensor<8x128x256xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %80 = stablehlo.reduce(%79 init: %cst_19) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %81 = stablehlo.broadcast_in_dim %80, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_20 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %83 = stablehlo.divide %81, %82 : tensor<8x128x1xf32>
    %cst_21 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %85 = stablehlo.add %83, %84 : tensor<8x128x1xf32>
    %86 = stablehlo.rsqrt %85 : tensor<8x128x1xf32>
    %87 = stablehlo.divide %86, %85 : tensor<8x128x1xf32>
    %cst_22 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %89 = stablehlo.multiply %88, %87 : tensor<8x128x1xf32>
    %90 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %91 = stablehlo.multiply %78, %90 : tensor<8x128x256xf32>
    %92 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %93 = stablehlo.broadcast_in_dim %92, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %94 = stablehlo.multiply %91, %93 : tensor<8x128x256xf32>
    %95 = stablehlo.broadcast_in_dim %arg6, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %96 = stablehlo.broadcast_in_dim %95, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %97 = stablehlo.add %94, %96 : tensor<8x128x256xf32>
    %98 = stablehlo.dot_general %97, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x1024xf32>) -> tensor<8x128x1024xf32>
    %99 = stablehlo.broadcast_in_dim %arg10, dims = [2] : (tensor<1024xf32>) -> tensor<1x1x1024xf32>
    %100 = stablehlo.broadcast_in_dim %99, dims = [0, 1, 2] : (tensor<1x1x1024xf32>) -> tensor<8x128x1024xf32>
    %101 = stablehlo.add %98, %100 : tensor<8x128x1024xf32>
    %102 = stablehlo.multiply %101, %101 : tensor<8x128x1024xf32>
    %103 = stablehlo.multiply %102, %101 : tensor<8x128x1024xf32>
    %104 = stablehlo.multiply %101, %101 : tensor<8x128x1024xf32>
    %cst_23 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %106 = stablehlo.multiply %105, %104 : tensor<8x128x1024xf32>
    %cst_24 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %108 = stablehlo.multiply %107, %103 : tensor<8x128x1024xf32>
    %109 = stablehlo.add %101, %108 : tensor<8x128x1024xf32>
    %cst_25 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %110 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %111 = stablehlo.multiply %110, %109 : tensor<8x128x1024xf32>
    %112 = stablehlo.tanh %111 : tensor<8x128x1024xf32>
    %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %114 = stablehlo.subtract %113, %112 : tensor<8x128x1024xf32>
    %cst_27 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %116 = stablehlo.add %115, %112 : tensor<8x128x1024xf32>
    %cst_28 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %118 = stablehlo.multiply %117, %116 : tensor<8x128x1024xf32>
    %119 = stablehlo.multiply %101, %118 : tensor<8x128x1024xf32>
    %120 = stablehlo.dot_general %119, %arg1, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<1024x256xf32>) -> tensor<8x128x256xf32>
    %121 = stablehlo.add %72, %120 : tensor<8x128x256xf32>
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %122 = stablehlo.reduce(%121 init: %cst_29) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %123 = stablehlo.broadcast_in_dim %122, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_30 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %124 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %125 = stablehlo.divide %123, %124 : tensor<8x128x1xf32>
    %126 = stablehlo.broadcast_in_dim %125, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %127 = stablehlo.subtract %121, %126 : tensor<8x128x256xf32>
    %128 = stablehlo.multiply %127, %127 : tensor<8x128x256xf32>
    %cst_31 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %129 = stablehlo.reduce(%128 init: %cst_31) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %130 = stablehlo.broadcast_in_dim %129, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_32 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %131 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %132 = stablehlo.divide %130, %131 : tensor<8x128x1xf32>
    %cst_33 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %133 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %134 = stablehlo.add %132, %133 : tensor<8x128x1xf32>
    %135 = stablehlo.rsqrt %134 : tensor<8x128x1xf32>
    %136 = stablehlo.divide %135, %134 : tensor<8x128x1xf32>
    %cst_34 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %138 = stablehlo.multiply %137, %136 : tensor<8x128x1xf32>
    %139 = stablehlo.broadcast_in_dim %135, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %140 = stablehlo.multiply %127, %139 : tensor<8x128x256xf32>
    %141 = stablehlo.broadcast_in_dim %arg14, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %142 = stablehlo.broadcast_in_dim %141, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %143 = stablehlo.multiply %140, %142 : tensor<8x128x256xf32>
    %144 = stablehlo.broadcast_in_dim %arg15, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %145 = stablehlo.broadcast_in_dim %144, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %146 = stablehlo.add %143, %145 : tensor<8x128x256xf32>
    %147 = stablehlo.dot_general %arg19, %146, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x4x64xf32>, tensor<8x128x256xf32>) -> tensor<4x64x8x128xf32>
    %148 = stablehlo.transpose %147, dims = [2, 0, 3, 1] : (tensor<4x64x8x128xf32>) -> tensor<8x4x128x64xf32>
    %149 = stablehlo.dot_general %arg13, %146, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x4x64xf32>, tensor<8x128x256xf32>) -> tensor<4x64x8x128xf32>
    %150 = stablehlo.transpose %149, dims = [2, 0, 3, 1] : (tensor<4x64x8x128xf32>) -> tensor<8x4x128x64xf32>
    %151 = stablehlo.dot_general %arg22, %146, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x4x64xf32>, tensor<8x128x256xf32>) -> tensor<4x64x8x128xf32>
    %152 = stablehlo.transpose %151, dims = [2, 0, 3, 1] : (tensor<4x64x8x128xf32>) -> tensor<8x4x128x64xf32>
    %153 = stablehlo.dot_general %148, %150, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x128xf32>
    %cst_35 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %154 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<8x4x128x128xf32>
    %155 = stablehlo.divide %153, %154 : tensor<8x4x128x128xf32>
    %c_36 = stablehlo.constant dense<true> : tensor<i1>
    %156 = stablehlo.broadcast_in_dim %c_36, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %157 = call @tril(%156) : (tensor<128x128xi1>) -> tensor<128x128xi1>
    %cst_37 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %158:3 = call @_where_0(%157, %155, %cst_37) : (tensor<128x128xi1>, tensor<8x4x128x128xf32>, tensor<f32>) -> (tensor<8x4x128x128xf32>, tensor<8x4x128x128xi1>, tensor<8x4x128x128xf32>)
    %cst_38 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %159 = stablehlo.reduce(%158#0 init: %cst_38) applies stablehlo.maximum across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %160 = stablehlo.reshape %159 : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %161 = stablehlo.broadcast_in_dim %160, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %162 = stablehlo.compare EQ, %158#0, %161, FLOAT : (tensor<8x4x128x128xf32>, tensor<8x4x128x128xf32>) -> tensor<8x4x128x128xi1>
    %163 = stablehlo.convert %162 : (tensor<8x4x128x128xi1>) -> tensor<8x4x128x128xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %164 = stablehlo.reduce(%163 init: %cst_39) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %cst_40 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %165 = stablehlo.broadcast_in_dim %cst_40, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %166 = stablehlo.maximum %165, %159 : tensor<8x4x128xf32>
    %167 = stablehlo.compare EQ, %159, %166, FLOAT : (tensor<8x4x128xf32>, tensor<8x4x128xf32>) -> tensor<8x4x128xi1>
    %cst_41 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %168 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %169 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %170 = stablehlo.select %167, %168, %169 : tensor<8x4x128xi1>, tensor<8x4x128xf32>
    %cst_43 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %171 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %172 = stablehlo.compare EQ, %171, %166, FLOAT : (tensor<8x4x128xf32>, tensor<8x4x128xf32>) -> tensor<8x4x128xi1>
    %cst_44 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %173 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %cst_45 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %174 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %175 = stablehlo.select %172, %173, %174 : tensor<8x4x128xi1>, tensor<8x4x128xf32>
    %176 = stablehlo.divide %170, %175 : tensor<8x4x128xf32>
    %177 = stablehlo.broadcast_in_dim %166, dims = [0, 1, 2] : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %178 = stablehlo.broadcast_in_dim %177, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %179 = stablehlo.subtract %158#0, %178 : tensor<8x4x128x128xf32>
    %180 = stablehlo.exponential %179 : tensor<8x4x128x128xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %181 = stablehlo.reduce(%180 init: %cst_46) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %182 = stablehlo.broadcast_in_dim %181, dims = [0, 1, 2] : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %183 = stablehlo.broadcast_in_dim %182, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %184 = stablehlo.divide %180, %183 : tensor<8x4x128x128xf32>
    %185 = stablehlo.multiply %182, %182 : tensor<8x4x128x1xf32>
    %cst_47 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %186 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<8x4x128x1xf32>
    %187 = stablehlo.divide %186, %185 : tensor<8x4x128x1xf32>
    %188 = stablehlo.dot_general %184, %152, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x128xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x64xf32>
    %189 = stablehlo.dot_general %188, %arg18, contracting_dims = [3, 1] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<4x64x256xf32>) -> tensor<8x128x256xf32>
    %190 = stablehlo.add %121, %189 : tensor<8x128x256xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %191 = stablehlo.reduce(%190 init: %cst_48) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %192 = stablehlo.broadcast_in_dim %191, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_49 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %193 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %194 = stablehlo.divide %192, %193 : tensor<8x128x1xf32>
    %195 = stablehlo.broadcast_in_dim %194, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %196 = stablehlo.subtract %190, %195 : tensor<8x128x256xf32>
    %197 = stablehlo.multiply %196, %196 : tensor<8x128x256xf32>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %198 = stablehlo.reduce(%197 init: %cst_50) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %199 = stablehlo.broadcast_in_dim %198, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_51 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %200 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %201 = stablehlo.divide %199, %200 : tensor<8x128x1xf32>
    %cst_52 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %202 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %203 = stablehlo.add %201, %202 : tensor<8x128x1xf32>
    %204 = stablehlo.rsqrt %203 : tensor<8x128x1xf32>
    %205 = stablehlo.divide %204, %203 : tensor<8x128x1xf32>
    %cst_53 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %206 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %207 = stablehlo.multiply %206, %205 : tensor<8x128x1xf32>
    %208 = stablehlo.broadcast_in_dim %204, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %209 = stablehlo.multiply %196, %208 : tensor<8x128x256xf32>
    %210 = stablehlo.broadcast_in_dim %arg16, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %211 = stablehlo.broadcast_in_dim %210, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %212 = stablehlo.multiply %209, %211 : tensor<8x128x256xf32>
    %213 = stablehlo.broadcast_in_dim %arg17, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %214 = stablehlo.broadcast_in_dim %213, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %215 = stablehlo.add %212, %214 : tensor<8x128x256xf32>
    %216 = stablehlo.dot_general %215, %arg20, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x1024xf32>) -> tensor<8x128x1024xf32>
    %217 = stablehlo.broadcast_in_dim %arg21, dims = [2] : (tensor<1024xf32>) -> tensor<1x1x1024xf32>
    %218 = stablehlo.broadcast_in_dim %217, dims = [0, 1, 2] : (tensor<1x1x1024xf32>) -> tensor<8x128x1024xf32>
    %219 = stablehlo.add %216, %218 : tensor<8x128x1024xf32>
    %220 = stablehlo.multiply %219, %219 : tensor<8x128x1024xf32>
    %221 = stablehlo.multiply %220, %219 : tensor<8x128x1024xf32>
    %222 = stablehlo.multiply %219, %219 : tensor<8x128x1024xf32>
    %cst_54 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %223 = stablehlo.broadcast_in_dim %cst_54, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %224 = stablehlo.multiply %223, %222 : tensor<8x128x1024xf32>
    %cst_55 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %225 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %226 = stablehlo.multiply %225, %221 : tensor<8x128x1024xf32>
    %227 = stablehlo.add %219, %226 : tensor<8x128x1024xf32>
    %cst_56 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %228 = stablehlo.broadcast_in_dim %cst_56, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %229 = stablehlo.multiply %228, %227 : tensor<8x128x1024xf32>
    %230 = stablehlo.tanh %229 : tensor<8x128x1024xf32>
    %cst_57 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %231 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %232 = stablehlo.subtract %231, %230 : tensor<8x128x1024xf32>
    %cst_58 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %233 = stablehlo.broadcast_in_dim %cst_58, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %234 = stablehlo.add %233, %230 : tensor<8x128x1024xf32>
    %cst_59 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %235 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %236 = stablehlo.multiply %235, %234 : tensor<8x128x1024xf32>
    %237 = stablehlo.multiply %219, %236 : tensor<8x128x1024xf32>
    %238 = stablehlo.dot_general %237, %arg12, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<1024x256xf32>) -> tensor<8x128x256xf32>
    %239 = stablehlo.add %190, %238 : tensor<8x128x256xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %240 = stablehlo.reduce(%239 init: %cst_60) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %241 = stablehlo.broadcast_in_dim %240, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_61 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %242 = stablehlo.broadcast_in_dim %cst_61, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %243 = stablehlo.divide %241, %242 : tensor<8x128x1xf32>
    %244 = stablehlo.broadcast_in_dim %243, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %245 = stablehlo.subtract %239, %244 : tensor<8x128x256xf32>
    %246 = stablehlo.multiply %245, %245 : tensor<8x128x256xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %247 = stablehlo.reduce(%246 init: %cst_62) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %248 = stablehlo.broadcast_in_dim %247, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_63 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %249 = stablehlo.broadcast_in_dim %cst_63, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %250 = stablehlo.divide %248, %249 : tensor<8x128x1xf32>
    %cst_64 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %251 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %252 = stablehlo.add %250, %251 : tensor<8x128x1xf32>
    %253 = stablehlo.rsqrt %252 : tensor<8x128x1xf32>
    %254 = stablehlo.divide %253, %252 : tensor<8x128x1xf32>
    %cst_65 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %255 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %256 = stablehlo.multiply %255, %254 : tensor<8x128x1xf32>
    %257 = stablehlo.broadcast_in_dim %253, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %258 = stablehlo.multiply %245, %257 : tensor<8x128x256xf32>
    %259 = stablehlo.broadcast_in_dim %arg25, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %260 = stablehlo.broadcast_in_dim %259, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %261 = stablehlo.multiply %258, %260 : tensor<8x128x256xf32>
    %262 = stablehlo.broadcast_in_dim %arg26, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %263 = stablehlo.broadcast_in_dim %262, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %264 = stablehlo.add %261, %263 : tensor<8x128x256xf32>
    %265 = stablehlo.dot_general %arg30, %264, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x4x64xf32>, tensor<8x128x256xf32>) -> tensor<4x64x8x128xf32>
    %266 = stablehlo.transpose %265, dims = [2, 0, 3, 1] : (tensor<4x64x8x128xf32>) -> tensor<8x4x128x64xf32>
    %267 = stablehlo.dot_general %arg24, %264, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x4x64xf32>, tensor<8x128x256xf32>) -> tensor<4x64x8x128xf32>
    %268 = stablehlo.transpose %267, dims = [2, 0, 3, 1] : (tensor<4x64x8x128xf32>) -> tensor<8x4x128x64xf32>
    %269 = stablehlo.dot_general %arg33, %264, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x4x64xf32>, tensor<8x128x256xf32>) -> tensor<4x64x8x128xf32>
    %270 = stablehlo.transpose %269, dims = [2, 0, 3, 1] : (tensor<4x64x8x128xf32>) -> tensor<8x4x128x64xf32>
    %271 = stablehlo.dot_general %266, %268, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x128xf32>
    %cst_66 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %272 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<8x4x128x128xf32>
    %273 = stablehlo.divide %271, %272 : tensor<8x4x128x128xf32>
    %c_67 = stablehlo.constant dense<true> : tensor<i1>
    %274 = stablehlo.broadcast_in_dim %c_67, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %275 = call @tril(%274) : (tensor<128x128xi1>) -> tensor<128x128xi1>
    %cst_68 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %276:3 = call @_where_0(%275, %273, %cst_68) : (tensor<128x128xi1>, tensor<8x4x128x128xf32>, tensor<f32>) -> (tensor<8x4x128x128xf32>, tensor<8x4x128x128xi1>, tensor<8x4x128x128xf32>)
    %cst_69 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %277 = stablehlo.reduce(%276#0 init: %cst_69) applies stablehlo.maximum across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %278 = stablehlo.reshape %277 : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %279 = stablehlo.broadcast_in_dim %278, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %280 = stablehlo.compare EQ, %276#0, %279, FLOAT : (tensor<8x4x128x128xf32>, tensor<8x4x128x128xf32>) -> tensor<8x4x128x128xi1>
    %281 = stablehlo.convert %280 : (tensor<8x4x128x128xi1>) -> tensor<8x4x128x128xf32>
    %cst_70 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %282 = stablehlo.reduce(%281 init: %cst_70) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %cst_71 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %283 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %284 = stablehlo.maximum %283, %277 : tensor<8x4x128xf32>
    %285 = stablehlo.compare EQ, %277, %284, FLOAT : (tensor<8x4x128xf32>, tensor<8x4x128xf32>) -> tensor<8x4x128xi1>
    %cst_72 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %286 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %287 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %288 = stablehlo.select %285, %286, %287 : tensor<8x4x128xi1>, tensor<8x4x128xf32>
    %cst_74 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %289 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %290 = stablehlo.compare EQ, %289, %284, FLOAT : (tensor<8x4x128xf32>, tensor<8x4x128xf32>) -> tensor<8x4x128xi1>
    %cst_75 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %291 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %cst_76 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %292 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %293 = stablehlo.select %290, %291, %292 : tensor<8x4x128xi1>, tensor<8x4x128xf32>
    %294 = stablehlo.divide %288, %293 : tensor<8x4x128xf32>
    %295 = stablehlo.broadcast_in_dim %284, dims = [0, 1, 2] : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %296 = stablehlo.broadcast_in_dim %295, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %297 = stablehlo.subtract %276#0, %296 : tensor<8x4x128x128xf32>
    %298 = stablehlo.exponential %297 : tensor<8x4x128x128xf32>
    %cst_77 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %299 = stablehlo.reduce(%298 init: %cst_77) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %300 = stablehlo.broadcast_in_dim %299, dims = [0, 1, 2] : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %301 = stablehlo.broadcast_in_dim %300, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %302 = stablehlo.divide %298, %301 : tensor<8x4x128x128xf32>
    %303 = stablehlo.multiply %300, %300 : tensor<8x4x128x1xf32>
    %cst_78 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %304 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<8x4x128x1xf32>
    %305 = stablehlo.divide %304, %303 : tensor<8x4x128x1xf32>
    %306 = stablehlo.dot_general %302, %270, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x128xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x64xf32>
    %307 = stablehlo.dot_general %306, %arg29, contracting_dims = [3, 1] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<4x64x256xf32>) -> tensor<8x128x256xf32>
    %308 = stablehlo.add %239, %307 : tensor<8x128x256xf32>
    %cst_79 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %309 = stablehlo.reduce(%308 init: %cst_79) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %310 = stablehlo.broadcast_in_dim %309, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_80 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %311 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %312 = stablehlo.divide %310, %311 : tensor<8x128x1xf32>
    %313 = stablehlo.broadcast_in_dim %312, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %314 = stablehlo.subtract %308, %313 : tensor<8x128x256xf32>
    %315 = stablehlo.multiply %314, %314 : tensor<8x128x256xf32>
    %cst_81 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %316 = stablehlo.reduce(%315 init: %cst_81) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %317 = stablehlo.broadcast_in_dim %316, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_82 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %318 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %319 = stablehlo.divide %317, %318 : tensor<8x128x1xf32>
    %cst_83 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %320 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %321 = stablehlo.add %319, %320 : tensor<8x128x1xf32>
    %322 = stablehlo.rsqrt %321 : tensor<8x128x1xf32>
    %323 = stablehlo.divide %322, %321 : tensor<8x128x1xf32>
    %cst_84 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %324 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %325 = stablehlo.multiply %324, %323 : tensor<8x128x1xf32>
    %326 = stablehlo.broadcast_in_dim %322, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %327 = stablehlo.multiply %314, %326 : tensor<8x128x256xf32>
    %328 = stablehlo.broadcast_in_dim %arg27, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %329 = stablehlo.broadcast_in_dim %328, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %330 = stablehlo.multiply %327, %329 : tensor<8x128x256xf32>
    %331 = stablehlo.broadcast_in_dim %arg28, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %332 = stablehlo.broadcast_in_dim %331, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %333 = stablehlo.add %330, %332 : tensor<8x128x256xf32>
    %334 = stablehlo.dot_general %333, %arg31, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x1024xf32>) -> tensor<8x128x1024xf32>
    %335 = stablehlo.broadcast_in_dim %arg32, dims = [2] : (tensor<1024xf32>) -> tensor<1x1x1024xf32>
    %336 = stablehlo.broadcast_in_dim %335, dims = [0, 1, 2] : (tensor<1x1x1024xf32>) -> tensor<8x128x1024xf32>
    %337 = stablehlo.add %334, %336 : tensor<8x128x1024xf32>
    %338 = stablehlo.multiply %337, %337 : tensor<8x128x1024xf32>
    %339 = stablehlo.multiply %338, %337 : tensor<8x128x1024xf32>
    %340 = stablehlo.multiply %337, %337 : tensor<8x128x1024xf32>
    %cst_85 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %341 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %342 = stablehlo.multiply %341, %340 : tensor<8x128x1024xf32>
    %cst_86 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %343 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %344 = stablehlo.multiply %343, %339 : tensor<8x128x1024xf32>
    %345 = stablehlo.add %337, %344 : tensor<8x128x1024xf32>
    %cst_87 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %346 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %347 = stablehlo.multiply %346, %345 : tensor<8x128x1024xf32>
    %348 = stablehlo.tanh %347 : tensor<8x128x1024xf32>
    %cst_88 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %349 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %350 = stablehlo.subtract %349, %348 : tensor<8x128x1024xf32>
    %cst_89 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %351 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %352 = stablehlo.add %351, %348 : tensor<8x128x1024xf32>
    %cst_90 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %353 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %354 = stablehlo.multiply %353, %352 : tensor<8x128x1024xf32>
    %355 = stablehlo.multiply %337, %354 : tensor<8x128x1024xf32>
    %356 = stablehlo.dot_general %355, %arg23, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<1024x256xf32>) -> tensor<8x128x256xf32>
    %357 = stablehlo.add %308, %356 : tensor<8x128x256xf32>
    %cst_91 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %358 = stablehlo.reduce(%357 init: %cst_91) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %359 = stablehlo.broadcast_in_dim %358, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_92 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %360 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %361 = stablehlo.divide %359, %360 : tensor<8x128x1xf32>
    %362 = stablehlo.broadcast_in_dim %361, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %363 = stablehlo.subtract %357, %362 : tensor<8x128x256xf32>
    %364 = stablehlo.multiply %363, %363 : tensor<8x128x256xf32>
    %cst_93 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %365 = stablehlo.reduce(%364 init: %cst_93) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %366 = stablehlo.broadcast_in_dim %365, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_94 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %367 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %368 = stablehlo.divide %366, %367 : tensor<8x128x1xf32>
    %cst_95 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %369 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %370 = stablehlo.add %368, %369 : tensor<8x128x1xf32>
    %371 = stablehlo.rsqrt %370 : tensor<8x128x1xf32>
    %372 = stablehlo.divide %371, %370 : tensor<8x128x1xf32>
    %cst_96 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %373 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %374 = stablehlo.multiply %373, %372 : tensor<8x128x1xf32>
    %375 = stablehlo.broadcast_in_dim %371, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %376 = stablehlo.multiply %363, %375 : tensor<8x128x256xf32>
    %377 = stablehlo.broadcast_in_dim %arg36, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %378 = stablehlo.broadcast_in_dim %377, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %379 = stablehlo.multiply %376, %378 : tensor<8x128x256xf32>
    %380 = stablehlo.broadcast_in_dim %arg37, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %381 = stablehlo.broadcast_in_dim %380, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %382 = stablehlo.add %379, %381 : tensor<8x128x256xf32>
    %383 = stablehlo.dot_general %arg41, %382, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x4x64xf32>, tensor<8x128x256xf32>) -> tensor<4x64x8x128xf32>
    %384 = stablehlo.transpose %383, dims = [2, 0, 3, 1] : (tensor<4x64x8x128xf32>) -> tensor<8x4x128x64xf32>
    %385 = stablehlo.dot_general %arg35, %382, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x4x64xf32>, tensor<8x128x256xf32>) -> tensor<4x64x8x128xf32>
    %386 = stablehlo.transpose %385, dims = [2, 0, 3, 1] : (tensor<4x64x8x128xf32>) -> tensor<8x4x128x64xf32>
    %387 = stablehlo.dot_general %arg44, %382, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x4x64xf32>, tensor<8x128x256xf32>) -> tensor<4x64x8x128xf32>
    %388 = stablehlo.transpose %387, dims = [2, 0, 3, 1] : (tensor<4x64x8x128xf32>) -> tensor<8x4x128x64xf32>
    %389 = stablehlo.dot_general %384, %386, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x128xf32>
    %cst_97 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %390 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<8x4x128x128xf32>
    %391 = stablehlo.divide %389, %390 : tensor<8x4x128x128xf32>
    %c_98 = stablehlo.constant dense<true> : tensor<i1>
    %392 = stablehlo.broadcast_in_dim %c_98, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %393 = call @tril(%392) : (tensor<128x128xi1>) -> tensor<128x128xi1>
    %cst_99 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %394:3 = call @_where_0(%393, %391, %cst_99) : (tensor<128x128xi1>, tensor<8x4x128x128xf32>, tensor<f32>) -> (tensor<8x4x128x128xf32>, tensor<8x4x128x128xi1>, tensor<8x4x128x128xf32>)
    %cst_100 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %395 = stablehlo.reduce(%394#0 init: %cst_100) applies stablehlo.maximum across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %396 = stablehlo.reshape %395 : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %397 = stablehlo.broadcast_in_dim %396, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %398 = stablehlo.compare EQ, %394#0, %397, FLOAT : (tensor<8x4x128x128xf32>, tensor<8x4x128x128xf32>) -> tensor<8x4x128x128xi1>
    %399 = stablehlo.convert %398 : (tensor<8x4x128x128xi1>) -> tensor<8x4x128x128xf32>
    %cst_101 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %400 = stablehlo.reduce(%399 init: %cst_101) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %cst_102 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %401 = stablehlo.broadcast_in_dim %cst_102, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %402 = stablehlo.maximum %401, %395 : tensor<8x4x128xf32>
    %403 = stablehlo.compare EQ, %395, %402, FLOAT : (tensor<8x4x128xf32>, tensor<8x4x128xf32>) -> tensor<8x4x128xi1>
    %cst_103 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %404 = stablehlo.broadcast_in_dim %cst_103, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %cst_104 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %405 = stablehlo.broadcast_in_dim %cst_104, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %406 = stablehlo.select %403, %404, %405 : tensor<8x4x128xi1>, tensor<8x4x128xf32>
    %cst_105 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %407 = stablehlo.broadcast_in_dim %cst_105, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %408 = stablehlo.compare EQ, %407, %402, FLOAT : (tensor<8x4x128xf32>, tensor<8x4x128xf32>) -> tensor<8x4x128xi1>
    %cst_106 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %409 = stablehlo.broadcast_in_dim %cst_106, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %cst_107 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %410 = stablehlo.broadcast_in_dim %cst_107, dims = [] : (tensor<f32>) -> tensor<8x4x128xf32>
    %411 = stablehlo.select %408, %409, %410 : tensor<8x4x128xi1>, tensor<8x4x128xf32>
    %412 = stablehlo.divide %406, %411 : tensor<8x4x128xf32>
    %413 = stablehlo.broadcast_in_dim %402, dims = [0, 1, 2] : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %414 = stablehlo.broadcast_in_dim %413, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %415 = stablehlo.subtract %394#0, %414 : tensor<8x4x128x128xf32>
    %416 = stablehlo.exponential %415 : tensor<8x4x128x128xf32>
    %cst_108 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %417 = stablehlo.reduce(%416 init: %cst_108) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %418 = stablehlo.broadcast_in_dim %417, dims = [0, 1, 2] : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %419 = stablehlo.broadcast_in_dim %418, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %420 = stablehlo.divide %416, %419 : tensor<8x4x128x128xf32>
    %421 = stablehlo.multiply %418, %418 : tensor<8x4x128x1xf32>
    %cst_109 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %422 = stablehlo.broadcast_in_dim %cst_109, dims = [] : (tensor<f32>) -> tensor<8x4x128x1xf32>
    %423 = stablehlo.divide %422, %421 : tensor<8x4x128x1xf32>
    %424 = stablehlo.dot_general %420, %388, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x128xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x64xf32>
    %425 = stablehlo.dot_general %424, %arg40, contracting_dims = [3, 1] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<4x64x256xf32>) -> tensor<8x128x256xf32>
    %426 = stablehlo.add %357, %425 : tensor<8x128x256xf32>
    %cst_110 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %427 = stablehlo.reduce(%426 init: %cst_110) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %428 = stablehlo.broadcast_in_dim %427, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_111 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %429 = stablehlo.broadcast_in_dim %cst_111, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %430 = stablehlo.divide %428, %429 : tensor<8x128x1xf32>
    %431 = stablehlo.broadcast_in_dim %430, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %432 = stablehlo.subtract %426, %431 : tensor<8x128x256xf32>
    %433 = stablehlo.multiply %432, %432 : tensor<8x128x256xf32>
    %cst_112 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %434 = stablehlo.reduce(%433 init: %cst_112) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %435 = stablehlo.broadcast_in_dim %434, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_113 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %436 = stablehlo.broadcast_in_dim %cst_113, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %437 = stablehlo.divide %435, %436 : tensor<8x128x1xf32>
    %cst_114 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %438 = stablehlo.broadcast_in_dim %cst_114, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %439 = stablehlo.add %437, %438 : tensor<8x128x1xf32>
    %440 = stablehlo.rsqrt %439 : tensor<8x128x1xf32>
    %441 = stablehlo.divide %440, %439 : tensor<8x128x1xf32>
    %cst_115 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %442 = stablehlo.broadcast_in_dim %cst_115, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %443 = stablehlo.multiply %442, %441 : tensor<8x128x1xf32>
    %444 = stablehlo.broadcast_in_dim %440, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %445 = stablehlo.multiply %432, %444 : tensor<8x128x256xf32>
    %446 = stablehlo.broadcast_in_dim %arg38, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %447 = stablehlo.broadcast_in_dim %446, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %448 = stablehlo.multiply %445, %447 : tensor<8x128x256xf32>
    %449 = stablehlo.broadcast_in_dim %arg39, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %450 = stablehlo.broadcast_in_dim %449, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %451 = stablehlo.add %448, %450 : tensor<8x128x256xf32>
    %452 = stablehlo.dot_general %451, %arg42, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x1024xf32>) -> tensor<8x128x1024xf32>
    %453 = stablehlo.broadcast_in_dim %arg43, dims = [2] : (tensor<1024xf32>) -> tensor<1x1x1024xf32>
    %454 = stablehlo.broadcast_in_dim %453, dims = [0, 1, 2] : (tensor<1x1x1024xf32>) -> tensor<8x128x1024xf32>
    %455 = stablehlo.add %452, %454 : tensor<8x128x1024xf32>
    %456 = stablehlo.multiply %455, %455 : tensor<8x128x1024xf32>
    %457 = stablehlo.multiply %456, %455 : tensor<8x128x1024xf32>
    %458 = stablehlo.multiply %455, %455 : tensor<8x128x1024xf32>
    %cst_116 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %459 = stablehlo.broadcast_in_dim %cst_116, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %460 = stablehlo.multiply %459, %458 : tensor<8x128x1024xf32>
    %cst_117 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %461 = stablehlo.broadcast_in_dim %cst_117, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %462 = stablehlo.multiply %461, %457 : tensor<8x128x1024xf32>
    %463 = stablehlo.add %455, %462 : tensor<8x128x1024xf32>
    %cst_118 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %464 = stablehlo.broadcast_in_dim %cst_118, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %465 = stablehlo.multiply %464, %463 : tensor<8x128x1024xf32>
    %466 = stablehlo.tanh %465 : tensor<8x128x1024xf32>
    %cst_119 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %467 = stablehlo.broadcast_in_dim %cst_119, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %468 = stablehlo.subtract %467, %466 : tensor<8x128x1024xf32>
    %cst_120 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %469 = stablehlo.broadcast_in_dim %cst_120, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %470 = stablehlo.add %469, %466 : tensor<8x128x1024xf32>
    %cst_121 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %471 = stablehlo.broadcast_in_dim %cst_121, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %472 = stablehlo.multiply %471, %470 : tensor<8x128x1024xf32>
    %473 = stablehlo.multiply %455, %472 : tensor<8x128x1024xf32>
    %474 = stablehlo.dot_general %473, %arg34, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<1024x256xf32>) -> tensor<8x128x256xf32>
    %475 = stablehlo.add %426, %474 : tensor<8x128x256xf32>
    %cst_122 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %476 = stablehlo.reduce(%475 init: %cst_122) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %477 = stablehlo.broadcast_in_dim %476, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_123 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %478 = stablehlo.broadcast_in_dim %cst_123, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %479 = stablehlo.divide %477, %478 : tensor<8x128x1xf32>
    %480 = stablehlo.broadcast_in_dim %479, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %481 = stablehlo.subtract %475, %480 : tensor<8x128x256xf32>
    %482 = stablehlo.multiply %481, %481 : tensor<8x128x256xf32>
    %cst_124 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %483 = stablehlo.reduce(%482 init: %cst_124) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %484 = stablehlo.broadcast_in_dim %483, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_125 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %485 = stablehlo.broadcast_in_dim %cst_125, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %486 = stablehlo.divide %484, %485 : tensor<8x128x1xf32>
    %cst_126 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %487 = stablehlo.broadcast_in_dim %cst_126, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %488 = stablehlo.add %486, %487 : tensor<8x128x1xf32>
    %489 = stablehlo.rsqrt %488 : tensor<8x128x1xf32>
    %490 = stablehlo.divide %489, %488 : tensor<8x128x1xf32>
    %cst_127 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %491 = stablehlo.broadcast_in_dim %cst_127, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %492 = stablehlo.multiply %491, %490 : tensor<8x128x1xf32>
    %493 = stablehlo.broadcast_in_dim %489, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %494 = stablehlo.multiply %481, %493 : tensor<8x128x256xf32>
    %495 = stablehlo.broadcast_in_dim %arg45, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %496 = stablehlo.broadcast_in_dim %495, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %497 = stablehlo.multiply %494, %496 : tensor<8x128x256xf32>
    %498 = stablehlo.broadcast_in_dim %arg46, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %499 = stablehlo.broadcast_in_dim %498, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %500 = stablehlo.add %497, %499 : tensor<8x128x256xf32>
    %501 = stablehlo.dot_general %500, %arg47, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<256x65xf32>) -> tensor<8x128x65xf32>
    %502:3 = call @log_softmax(%501) : (tensor<8x128x65xf32>) -> (tensor<8x128x65xf32>, tensor<8x128x65xf32>, tensor<8x128x1xf32>)
    %503 = stablehlo.broadcast_in_dim %arg149, dims = [0, 1] : (tensor<8x128xi32>) -> tensor<8x128x1xi32>
    %504:2 = call @take_along_axis(%502#0, %503) : (tensor<8x128x65xf32>, tensor<8x128x1xi32>) -> (tensor<8x128x1xf32>, tensor<8x128x1x1xi32>)
    %cst_128 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %505 = stablehlo.reduce(%504#0 init: %cst_128) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_129 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %506 = stablehlo.divide %505, %cst_129 : tensor<f32>
    %507 = stablehlo.negate %506 : tensor<f32>
    %cst_130 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %508 = stablehlo.negate %cst_130 : tensor<f32>
    %cst_131 = stablehlo.constant dense<1.024000e+03> : tensor<f32>
    %509 = stablehlo.divide %508, %cst_131 : tensor<f32>
    %510 = stablehlo.broadcast_in_dim %509, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %511 = call @take_along_axis_1(%504#1, %510) : (tensor<8x128x1x1xi32>, tensor<8x128x1xf32>) -> tensor<8x128x65xf32>
    %512 = call @log_softmax_2(%502#1, %502#2, %511) : (tensor<8x128x65xf32>, tensor<8x128x1xf32>, tensor<8x128x65xf32>) -> tensor<8x128x65xf32>
    %513 = stablehlo.dot_general %512, %500, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x65xf32>, tensor<8x128x256xf32>) -> tensor<65x256xf32>
    %514 = stablehlo.transpose %513, dims = [1, 0] : (tensor<65x256xf32>) -> tensor<256x65xf32>
    %515 = stablehlo.dot_general %512, %arg47, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x65xf32>, tensor<256x65xf32>) -> tensor<8x128x256xf32>
    %cst_132 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %516 = stablehlo.reduce(%515 init: %cst_132) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %517 = stablehlo.reshape %516 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_133 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %518 = stablehlo.reduce(%517 init: %cst_133) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %519 = stablehlo.multiply %494, %515 : tensor<8x128x256xf32>
    %cst_134 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %520 = stablehlo.reduce(%519 init: %cst_134) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %521 = stablehlo.reshape %520 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %522 = stablehlo.broadcast_in_dim %495, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %523 = stablehlo.multiply %515, %522 : tensor<8x128x256xf32>
    %cst_135 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %524 = stablehlo.reduce(%521 init: %cst_135) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %525 = stablehlo.multiply %481, %523 : tensor<8x128x256xf32>
    %cst_136 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %526 = stablehlo.reduce(%525 init: %cst_136) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %527 = stablehlo.reshape %526 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %528 = stablehlo.broadcast_in_dim %489, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %529 = stablehlo.multiply %523, %528 : tensor<8x128x256xf32>
    %530 = stablehlo.multiply %527, %492 : tensor<8x128x1xf32>
    %cst_137 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %531 = stablehlo.broadcast_in_dim %cst_137, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %532 = stablehlo.divide %530, %531 : tensor<8x128x1xf32>
    %cst_138 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %533 = stablehlo.reduce(%532 init: %cst_138) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %534 = stablehlo.broadcast_in_dim %533, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %535 = stablehlo.multiply %481, %534 : tensor<8x128x256xf32>
    %536 = stablehlo.add %529, %535 : tensor<8x128x256xf32>
    %537 = stablehlo.multiply %534, %481 : tensor<8x128x256xf32>
    %538 = stablehlo.add %536, %537 : tensor<8x128x256xf32>
    %539 = stablehlo.negate %538 : tensor<8x128x256xf32>
    %cst_139 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %540 = stablehlo.reduce(%539 init: %cst_139) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %541 = stablehlo.reshape %540 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %cst_140 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %542 = stablehlo.broadcast_in_dim %cst_140, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %543 = stablehlo.divide %541, %542 : tensor<8x128x1xf32>
    %cst_141 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %544 = stablehlo.reduce(%543 init: %cst_141) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %545 = stablehlo.broadcast_in_dim %544, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %546 = stablehlo.add %538, %545 : tensor<8x128x256xf32>
    %547 = stablehlo.dot_general %546, %473, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<8x128x1024xf32>) -> tensor<256x1024xf32>
    %548 = stablehlo.transpose %547, dims = [1, 0] : (tensor<256x1024xf32>) -> tensor<1024x256xf32>
    %549 = stablehlo.dot_general %546, %arg34, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<1024x256xf32>) -> tensor<8x128x1024xf32>
    %550 = stablehlo.multiply %455, %549 : tensor<8x128x1024xf32>
    %551 = stablehlo.multiply %549, %472 : tensor<8x128x1024xf32>
    %cst_142 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %552 = stablehlo.broadcast_in_dim %cst_142, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %553 = stablehlo.multiply %552, %550 : tensor<8x128x1024xf32>
    %554 = stablehlo.multiply %553, %468 : tensor<8x128x1024xf32>
    %555 = stablehlo.multiply %554, %466 : tensor<8x128x1024xf32>
    %556 = stablehlo.add %554, %555 : tensor<8x128x1024xf32>
    %cst_143 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %557 = stablehlo.broadcast_in_dim %cst_143, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %558 = stablehlo.multiply %557, %556 : tensor<8x128x1024xf32>
    %559 = stablehlo.add %551, %558 : tensor<8x128x1024xf32>
    %cst_144 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %560 = stablehlo.broadcast_in_dim %cst_144, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %561 = stablehlo.multiply %560, %558 : tensor<8x128x1024xf32>
    %562 = stablehlo.multiply %561, %460 : tensor<8x128x1024xf32>
    %563 = stablehlo.add %559, %562 : tensor<8x128x1024xf32>
    %cst_145 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %564 = stablehlo.reduce(%563 init: %cst_145) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %565 = stablehlo.reshape %564 : (tensor<1024xf32>) -> tensor<1x1x1024xf32>
    %cst_146 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %566 = stablehlo.reduce(%565 init: %cst_146) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %567 = stablehlo.dot_general %563, %451, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<8x128x256xf32>) -> tensor<1024x256xf32>
    %568 = stablehlo.transpose %567, dims = [1, 0] : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %569 = stablehlo.dot_general %563, %arg42, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<256x1024xf32>) -> tensor<8x128x256xf32>
    %cst_147 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %570 = stablehlo.reduce(%569 init: %cst_147) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %571 = stablehlo.reshape %570 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_148 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %572 = stablehlo.reduce(%571 init: %cst_148) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %573 = stablehlo.multiply %445, %569 : tensor<8x128x256xf32>
    %cst_149 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %574 = stablehlo.reduce(%573 init: %cst_149) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %575 = stablehlo.reshape %574 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %576 = stablehlo.broadcast_in_dim %446, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %577 = stablehlo.multiply %569, %576 : tensor<8x128x256xf32>
    %cst_150 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %578 = stablehlo.reduce(%575 init: %cst_150) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %579 = stablehlo.multiply %432, %577 : tensor<8x128x256xf32>
    %cst_151 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %580 = stablehlo.reduce(%579 init: %cst_151) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %581 = stablehlo.reshape %580 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %582 = stablehlo.broadcast_in_dim %440, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %583 = stablehlo.multiply %577, %582 : tensor<8x128x256xf32>
    %584 = stablehlo.multiply %581, %443 : tensor<8x128x1xf32>
    %cst_152 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %585 = stablehlo.broadcast_in_dim %cst_152, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %586 = stablehlo.divide %584, %585 : tensor<8x128x1xf32>
    %cst_153 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %587 = stablehlo.reduce(%586 init: %cst_153) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %588 = stablehlo.broadcast_in_dim %587, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %589 = stablehlo.multiply %432, %588 : tensor<8x128x256xf32>
    %590 = stablehlo.add %583, %589 : tensor<8x128x256xf32>
    %591 = stablehlo.multiply %588, %432 : tensor<8x128x256xf32>
    %592 = stablehlo.add %590, %591 : tensor<8x128x256xf32>
    %593 = stablehlo.negate %592 : tensor<8x128x256xf32>
    %cst_154 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %594 = stablehlo.reduce(%593 init: %cst_154) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %595 = stablehlo.reshape %594 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %596 = stablehlo.add %546, %592 : tensor<8x128x256xf32>
    %cst_155 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %597 = stablehlo.broadcast_in_dim %cst_155, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %598 = stablehlo.divide %595, %597 : tensor<8x128x1xf32>
    %cst_156 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %599 = stablehlo.reduce(%598 init: %cst_156) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %600 = stablehlo.broadcast_in_dim %599, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %601 = stablehlo.add %596, %600 : tensor<8x128x256xf32>
    %602 = stablehlo.dot_general %601, %424, contracting_dims = [0, 1] x [0, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<8x4x128x64xf32>) -> tensor<256x4x64xf32>
    %603 = stablehlo.transpose %602, dims = [1, 2, 0] : (tensor<256x4x64xf32>) -> tensor<4x64x256xf32>
    %604 = stablehlo.dot_general %601, %arg40, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<4x64x256xf32>) -> tensor<8x128x4x64xf32>
    %605 = stablehlo.transpose %604, dims = [0, 2, 1, 3] : (tensor<8x128x4x64xf32>) -> tensor<8x4x128x64xf32>
    %606 = stablehlo.dot_general %605, %420, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<8x4x128x128xf32>) -> tensor<8x4x64x128xf32>
    %607 = stablehlo.transpose %606, dims = [0, 1, 3, 2] : (tensor<8x4x64x128xf32>) -> tensor<8x4x128x64xf32>
    %608 = stablehlo.dot_general %605, %388, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x128xf32>
    %609 = stablehlo.broadcast_in_dim %423, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %610 = stablehlo.multiply %608, %609 : tensor<8x4x128x128xf32>
    %611 = stablehlo.multiply %610, %416 : tensor<8x4x128x128xf32>
    %cst_157 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %612 = stablehlo.reduce(%611 init: %cst_157) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %613 = stablehlo.reshape %612 : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %614 = stablehlo.negate %613 : tensor<8x4x128x1xf32>
    %615 = stablehlo.broadcast_in_dim %418, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %616 = stablehlo.divide %608, %615 : tensor<8x4x128x128xf32>
    %cst_158 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %617 = stablehlo.reduce(%614 init: %cst_158) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x1xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %618 = stablehlo.broadcast_in_dim %617, dims = [0, 1, 2] : (tensor<8x4x128xf32>) -> tensor<8x4x128x128xf32>
    %619 = stablehlo.add %616, %618 : tensor<8x4x128x128xf32>
    %620 = stablehlo.multiply %619, %416 : tensor<8x4x128x128xf32>
    %621 = call @_where_3(%394#1, %394#2, %620) : (tensor<8x4x128x128xi1>, tensor<8x4x128x128xf32>, tensor<8x4x128x128xf32>) -> tensor<8x4x128x128xf32>
    %cst_159 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %622 = stablehlo.broadcast_in_dim %cst_159, dims = [] : (tensor<f32>) -> tensor<8x4x128x128xf32>
    %623 = stablehlo.divide %621, %622 : tensor<8x4x128x128xf32>
    %624 = stablehlo.dot_general %623, %384, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x128xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x64xf32>
    %625 = stablehlo.dot_general %623, %386, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x128xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x64xf32>
    %626 = stablehlo.transpose %607, dims = [1, 3, 0, 2] : (tensor<8x4x128x64xf32>) -> tensor<4x64x8x128xf32>
    %627 = stablehlo.dot_general %626, %arg44, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<256x4x64xf32>) -> tensor<8x128x256xf32>
    %628 = stablehlo.dot_general %626, %382, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<8x128x256xf32>) -> tensor<4x64x256xf32>
    %629 = stablehlo.transpose %628, dims = [2, 0, 1] : (tensor<4x64x256xf32>) -> tensor<256x4x64xf32>
    %630 = stablehlo.transpose %624, dims = [1, 3, 0, 2] : (tensor<8x4x128x64xf32>) -> tensor<4x64x8x128xf32>
    %631 = stablehlo.dot_general %630, %arg35, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<256x4x64xf32>) -> tensor<8x128x256xf32>
    %632 = stablehlo.add %627, %631 : tensor<8x128x256xf32>
    %633 = stablehlo.dot_general %630, %382, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<8x128x256xf32>) -> tensor<4x64x256xf32>
    %634 = stablehlo.transpose %633, dims = [2, 0, 1] : (tensor<4x64x256xf32>) -> tensor<256x4x64xf32>
    %635 = stablehlo.transpose %625, dims = [1, 3, 0, 2] : (tensor<8x4x128x64xf32>) -> tensor<4x64x8x128xf32>
    %636 = stablehlo.dot_general %635, %arg41, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<256x4x64xf32>) -> tensor<8x128x256xf32>
    %637 = stablehlo.add %632, %636 : tensor<8x128x256xf32>
    %638 = stablehlo.dot_general %635, %382, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<8x128x256xf32>) -> tensor<4x64x256xf32>
    %639 = stablehlo.transpose %638, dims = [2, 0, 1] : (tensor<4x64x256xf32>) -> tensor<256x4x64xf32>
    %cst_160 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %640 = stablehlo.reduce(%637 init: %cst_160) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %641 = stablehlo.reshape %640 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_161 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %642 = stablehlo.reduce(%641 init: %cst_161) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %643 = stablehlo.multiply %376, %637 : tensor<8x128x256xf32>
    %cst_162 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %644 = stablehlo.reduce(%643 init: %cst_162) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %645 = stablehlo.reshape %644 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %646 = stablehlo.broadcast_in_dim %377, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %647 = stablehlo.multiply %637, %646 : tensor<8x128x256xf32>
    %cst_163 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %648 = stablehlo.reduce(%645 init: %cst_163) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %649 = stablehlo.multiply %363, %647 : tensor<8x128x256xf32>
    %cst_164 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %650 = stablehlo.reduce(%649 init: %cst_164) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %651 = stablehlo.reshape %650 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %652 = stablehlo.broadcast_in_dim %371, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %653 = stablehlo.multiply %647, %652 : tensor<8x128x256xf32>
    %654 = stablehlo.multiply %651, %374 : tensor<8x128x1xf32>
    %cst_165 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %655 = stablehlo.broadcast_in_dim %cst_165, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %656 = stablehlo.divide %654, %655 : tensor<8x128x1xf32>
    %cst_166 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %657 = stablehlo.reduce(%656 init: %cst_166) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %658 = stablehlo.broadcast_in_dim %657, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %659 = stablehlo.multiply %363, %658 : tensor<8x128x256xf32>
    %660 = stablehlo.add %653, %659 : tensor<8x128x256xf32>
    %661 = stablehlo.multiply %658, %363 : tensor<8x128x256xf32>
    %662 = stablehlo.add %660, %661 : tensor<8x128x256xf32>
    %663 = stablehlo.negate %662 : tensor<8x128x256xf32>
    %cst_167 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %664 = stablehlo.reduce(%663 init: %cst_167) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %665 = stablehlo.reshape %664 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %666 = stablehlo.add %601, %662 : tensor<8x128x256xf32>
    %cst_168 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %667 = stablehlo.broadcast_in_dim %cst_168, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %668 = stablehlo.divide %665, %667 : tensor<8x128x1xf32>
    %cst_169 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %669 = stablehlo.reduce(%668 init: %cst_169) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %670 = stablehlo.broadcast_in_dim %669, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %671 = stablehlo.add %666, %670 : tensor<8x128x256xf32>
    %672 = stablehlo.dot_general %671, %355, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<8x128x1024xf32>) -> tensor<256x1024xf32>
    %673 = stablehlo.transpose %672, dims = [1, 0] : (tensor<256x1024xf32>) -> tensor<1024x256xf32>
    %674 = stablehlo.dot_general %671, %arg23, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<1024x256xf32>) -> tensor<8x128x1024xf32>
    %675 = stablehlo.multiply %337, %674 : tensor<8x128x1024xf32>
    %676 = stablehlo.multiply %674, %354 : tensor<8x128x1024xf32>
    %cst_170 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %677 = stablehlo.broadcast_in_dim %cst_170, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %678 = stablehlo.multiply %677, %675 : tensor<8x128x1024xf32>
    %679 = stablehlo.multiply %678, %350 : tensor<8x128x1024xf32>
    %680 = stablehlo.multiply %679, %348 : tensor<8x128x1024xf32>
    %681 = stablehlo.add %679, %680 : tensor<8x128x1024xf32>
    %cst_171 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %682 = stablehlo.broadcast_in_dim %cst_171, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %683 = stablehlo.multiply %682, %681 : tensor<8x128x1024xf32>
    %684 = stablehlo.add %676, %683 : tensor<8x128x1024xf32>
    %cst_172 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %685 = stablehlo.broadcast_in_dim %cst_172, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %686 = stablehlo.multiply %685, %683 : tensor<8x128x1024xf32>
    %687 = stablehlo.multiply %686, %342 : tensor<8x128x1024xf32>
    %688 = stablehlo.add %684, %687 : tensor<8x128x1024xf32>
    %cst_173 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %689 = stablehlo.reduce(%688 init: %cst_173) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %690 = stablehlo.reshape %689 : (tensor<1024xf32>) -> tensor<1x1x1024xf32>
    %cst_174 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %691 = stablehlo.reduce(%690 init: %cst_174) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %692 = stablehlo.dot_general %688, %333, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<8x128x256xf32>) -> tensor<1024x256xf32>
    %693 = stablehlo.transpose %692, dims = [1, 0] : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %694 = stablehlo.dot_general %688, %arg31, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<256x1024xf32>) -> tensor<8x128x256xf32>
    %cst_175 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %695 = stablehlo.reduce(%694 init: %cst_175) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %696 = stablehlo.reshape %695 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_176 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %697 = stablehlo.reduce(%696 init: %cst_176) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %698 = stablehlo.multiply %327, %694 : tensor<8x128x256xf32>
    %cst_177 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %699 = stablehlo.reduce(%698 init: %cst_177) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %700 = stablehlo.reshape %699 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %701 = stablehlo.broadcast_in_dim %328, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %702 = stablehlo.multiply %694, %701 : tensor<8x128x256xf32>
    %cst_178 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %703 = stablehlo.reduce(%700 init: %cst_178) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %704 = stablehlo.multiply %314, %702 : tensor<8x128x256xf32>
    %cst_179 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %705 = stablehlo.reduce(%704 init: %cst_179) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %706 = stablehlo.reshape %705 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %707 = stablehlo.broadcast_in_dim %322, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %708 = stablehlo.multiply %702, %707 : tensor<8x128x256xf32>
    %709 = stablehlo.multiply %706, %325 : tensor<8x128x1xf32>
    %cst_180 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %710 = stablehlo.broadcast_in_dim %cst_180, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %711 = stablehlo.divide %709, %710 : tensor<8x128x1xf32>
    %cst_181 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %712 = stablehlo.reduce(%711 init: %cst_181) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %713 = stablehlo.broadcast_in_dim %712, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %714 = stablehlo.multiply %314, %713 : tensor<8x128x256xf32>
    %715 = stablehlo.add %708, %714 : tensor<8x128x256xf32>
    %716 = stablehlo.multiply %713, %314 : tensor<8x128x256xf32>
    %717 = stablehlo.add %715, %716 : tensor<8x128x256xf32>
    %718 = stablehlo.negate %717 : tensor<8x128x256xf32>
    %cst_182 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %719 = stablehlo.reduce(%718 init: %cst_182) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %720 = stablehlo.reshape %719 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %721 = stablehlo.add %671, %717 : tensor<8x128x256xf32>
    %cst_183 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %722 = stablehlo.broadcast_in_dim %cst_183, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %723 = stablehlo.divide %720, %722 : tensor<8x128x1xf32>
    %cst_184 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %724 = stablehlo.reduce(%723 init: %cst_184) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %725 = stablehlo.broadcast_in_dim %724, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %726 = stablehlo.add %721, %725 : tensor<8x128x256xf32>
    %727 = stablehlo.dot_general %726, %306, contracting_dims = [0, 1] x [0, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<8x4x128x64xf32>) -> tensor<256x4x64xf32>
    %728 = stablehlo.transpose %727, dims = [1, 2, 0] : (tensor<256x4x64xf32>) -> tensor<4x64x256xf32>
    %729 = stablehlo.dot_general %726, %arg29, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<4x64x256xf32>) -> tensor<8x128x4x64xf32>
    %730 = stablehlo.transpose %729, dims = [0, 2, 1, 3] : (tensor<8x128x4x64xf32>) -> tensor<8x4x128x64xf32>
    %731 = stablehlo.dot_general %730, %302, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<8x4x128x128xf32>) -> tensor<8x4x64x128xf32>
    %732 = stablehlo.transpose %731, dims = [0, 1, 3, 2] : (tensor<8x4x64x128xf32>) -> tensor<8x4x128x64xf32>
    %733 = stablehlo.dot_general %730, %270, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x128xf32>
    %734 = stablehlo.broadcast_in_dim %305, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %735 = stablehlo.multiply %733, %734 : tensor<8x4x128x128xf32>
    %736 = stablehlo.multiply %735, %298 : tensor<8x4x128x128xf32>
    %cst_185 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %737 = stablehlo.reduce(%736 init: %cst_185) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %738 = stablehlo.reshape %737 : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %739 = stablehlo.negate %738 : tensor<8x4x128x1xf32>
    %740 = stablehlo.broadcast_in_dim %300, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %741 = stablehlo.divide %733, %740 : tensor<8x4x128x128xf32>
    %cst_186 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %742 = stablehlo.reduce(%739 init: %cst_186) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x1xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %743 = stablehlo.broadcast_in_dim %742, dims = [0, 1, 2] : (tensor<8x4x128xf32>) -> tensor<8x4x128x128xf32>
    %744 = stablehlo.add %741, %743 : tensor<8x4x128x128xf32>
    %745 = stablehlo.multiply %744, %298 : tensor<8x4x128x128xf32>
    %746 = call @_where_3(%276#1, %276#2, %745) : (tensor<8x4x128x128xi1>, tensor<8x4x128x128xf32>, tensor<8x4x128x128xf32>) -> tensor<8x4x128x128xf32>
    %cst_187 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %747 = stablehlo.broadcast_in_dim %cst_187, dims = [] : (tensor<f32>) -> tensor<8x4x128x128xf32>
    %748 = stablehlo.divide %746, %747 : tensor<8x4x128x128xf32>
    %749 = stablehlo.dot_general %748, %266, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x128xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x64xf32>
    %750 = stablehlo.dot_general %748, %268, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x128xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x64xf32>
    %751 = stablehlo.transpose %732, dims = [1, 3, 0, 2] : (tensor<8x4x128x64xf32>) -> tensor<4x64x8x128xf32>
    %752 = stablehlo.dot_general %751, %arg33, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<256x4x64xf32>) -> tensor<8x128x256xf32>
    %753 = stablehlo.dot_general %751, %264, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<8x128x256xf32>) -> tensor<4x64x256xf32>
    %754 = stablehlo.transpose %753, dims = [2, 0, 1] : (tensor<4x64x256xf32>) -> tensor<256x4x64xf32>
    %755 = stablehlo.transpose %749, dims = [1, 3, 0, 2] : (tensor<8x4x128x64xf32>) -> tensor<4x64x8x128xf32>
    %756 = stablehlo.dot_general %755, %arg24, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<256x4x64xf32>) -> tensor<8x128x256xf32>
    %757 = stablehlo.add %752, %756 : tensor<8x128x256xf32>
    %758 = stablehlo.dot_general %755, %264, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<8x128x256xf32>) -> tensor<4x64x256xf32>
    %759 = stablehlo.transpose %758, dims = [2, 0, 1] : (tensor<4x64x256xf32>) -> tensor<256x4x64xf32>
    %760 = stablehlo.transpose %750, dims = [1, 3, 0, 2] : (tensor<8x4x128x64xf32>) -> tensor<4x64x8x128xf32>
    %761 = stablehlo.dot_general %760, %arg30, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<256x4x64xf32>) -> tensor<8x128x256xf32>
    %762 = stablehlo.add %757, %761 : tensor<8x128x256xf32>
    %763 = stablehlo.dot_general %760, %264, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<8x128x256xf32>) -> tensor<4x64x256xf32>
    %764 = stablehlo.transpose %763, dims = [2, 0, 1] : (tensor<4x64x256xf32>) -> tensor<256x4x64xf32>
    %cst_188 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %765 = stablehlo.reduce(%762 init: %cst_188) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %766 = stablehlo.reshape %765 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_189 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %767 = stablehlo.reduce(%766 init: %cst_189) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %768 = stablehlo.multiply %258, %762 : tensor<8x128x256xf32>
    %cst_190 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %769 = stablehlo.reduce(%768 init: %cst_190) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %770 = stablehlo.reshape %769 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %771 = stablehlo.broadcast_in_dim %259, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %772 = stablehlo.multiply %762, %771 : tensor<8x128x256xf32>
    %cst_191 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %773 = stablehlo.reduce(%770 init: %cst_191) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %774 = stablehlo.multiply %245, %772 : tensor<8x128x256xf32>
    %cst_192 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %775 = stablehlo.reduce(%774 init: %cst_192) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %776 = stablehlo.reshape %775 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %777 = stablehlo.broadcast_in_dim %253, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %778 = stablehlo.multiply %772, %777 : tensor<8x128x256xf32>
    %779 = stablehlo.multiply %776, %256 : tensor<8x128x1xf32>
    %cst_193 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %780 = stablehlo.broadcast_in_dim %cst_193, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %781 = stablehlo.divide %779, %780 : tensor<8x128x1xf32>
    %cst_194 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %782 = stablehlo.reduce(%781 init: %cst_194) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %783 = stablehlo.broadcast_in_dim %782, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %784 = stablehlo.multiply %245, %783 : tensor<8x128x256xf32>
    %785 = stablehlo.add %778, %784 : tensor<8x128x256xf32>
    %786 = stablehlo.multiply %783, %245 : tensor<8x128x256xf32>
    %787 = stablehlo.add %785, %786 : tensor<8x128x256xf32>
    %788 = stablehlo.negate %787 : tensor<8x128x256xf32>
    %cst_195 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %789 = stablehlo.reduce(%788 init: %cst_195) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %790 = stablehlo.reshape %789 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %791 = stablehlo.add %726, %787 : tensor<8x128x256xf32>
    %cst_196 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %792 = stablehlo.broadcast_in_dim %cst_196, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %793 = stablehlo.divide %790, %792 : tensor<8x128x1xf32>
    %cst_197 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %794 = stablehlo.reduce(%793 init: %cst_197) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %795 = stablehlo.broadcast_in_dim %794, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %796 = stablehlo.add %791, %795 : tensor<8x128x256xf32>
    %797 = stablehlo.dot_general %796, %237, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<8x128x1024xf32>) -> tensor<256x1024xf32>
    %798 = stablehlo.transpose %797, dims = [1, 0] : (tensor<256x1024xf32>) -> tensor<1024x256xf32>
    %799 = stablehlo.dot_general %796, %arg12, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<1024x256xf32>) -> tensor<8x128x1024xf32>
    %800 = stablehlo.multiply %219, %799 : tensor<8x128x1024xf32>
    %801 = stablehlo.multiply %799, %236 : tensor<8x128x1024xf32>
    %cst_198 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %802 = stablehlo.broadcast_in_dim %cst_198, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %803 = stablehlo.multiply %802, %800 : tensor<8x128x1024xf32>
    %804 = stablehlo.multiply %803, %232 : tensor<8x128x1024xf32>
    %805 = stablehlo.multiply %804, %230 : tensor<8x128x1024xf32>
    %806 = stablehlo.add %804, %805 : tensor<8x128x1024xf32>
    %cst_199 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %807 = stablehlo.broadcast_in_dim %cst_199, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %808 = stablehlo.multiply %807, %806 : tensor<8x128x1024xf32>
    %809 = stablehlo.add %801, %808 : tensor<8x128x1024xf32>
    %cst_200 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %810 = stablehlo.broadcast_in_dim %cst_200, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %811 = stablehlo.multiply %810, %808 : tensor<8x128x1024xf32>
    %812 = stablehlo.multiply %811, %224 : tensor<8x128x1024xf32>
    %813 = stablehlo.add %809, %812 : tensor<8x128x1024xf32>
    %cst_201 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %814 = stablehlo.reduce(%813 init: %cst_201) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %815 = stablehlo.reshape %814 : (tensor<1024xf32>) -> tensor<1x1x1024xf32>
    %cst_202 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %816 = stablehlo.reduce(%815 init: %cst_202) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %817 = stablehlo.dot_general %813, %215, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<8x128x256xf32>) -> tensor<1024x256xf32>
    %818 = stablehlo.transpose %817, dims = [1, 0] : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %819 = stablehlo.dot_general %813, %arg20, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<256x1024xf32>) -> tensor<8x128x256xf32>
    %cst_203 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %820 = stablehlo.reduce(%819 init: %cst_203) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %821 = stablehlo.reshape %820 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_204 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %822 = stablehlo.reduce(%821 init: %cst_204) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %823 = stablehlo.multiply %209, %819 : tensor<8x128x256xf32>
    %cst_205 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %824 = stablehlo.reduce(%823 init: %cst_205) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %825 = stablehlo.reshape %824 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %826 = stablehlo.broadcast_in_dim %210, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %827 = stablehlo.multiply %819, %826 : tensor<8x128x256xf32>
    %cst_206 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %828 = stablehlo.reduce(%825 init: %cst_206) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %829 = stablehlo.multiply %196, %827 : tensor<8x128x256xf32>
    %cst_207 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %830 = stablehlo.reduce(%829 init: %cst_207) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %831 = stablehlo.reshape %830 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %832 = stablehlo.broadcast_in_dim %204, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %833 = stablehlo.multiply %827, %832 : tensor<8x128x256xf32>
    %834 = stablehlo.multiply %831, %207 : tensor<8x128x1xf32>
    %cst_208 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %835 = stablehlo.broadcast_in_dim %cst_208, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %836 = stablehlo.divide %834, %835 : tensor<8x128x1xf32>
    %cst_209 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %837 = stablehlo.reduce(%836 init: %cst_209) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %838 = stablehlo.broadcast_in_dim %837, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %839 = stablehlo.multiply %196, %838 : tensor<8x128x256xf32>
    %840 = stablehlo.add %833, %839 : tensor<8x128x256xf32>
    %841 = stablehlo.multiply %838, %196 : tensor<8x128x256xf32>
    %842 = stablehlo.add %840, %841 : tensor<8x128x256xf32>
    %843 = stablehlo.negate %842 : tensor<8x128x256xf32>
    %cst_210 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %844 = stablehlo.reduce(%843 init: %cst_210) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %845 = stablehlo.reshape %844 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %846 = stablehlo.add %796, %842 : tensor<8x128x256xf32>
    %cst_211 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %847 = stablehlo.broadcast_in_dim %cst_211, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %848 = stablehlo.divide %845, %847 : tensor<8x128x1xf32>
    %cst_212 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %849 = stablehlo.reduce(%848 init: %cst_212) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %850 = stablehlo.broadcast_in_dim %849, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %851 = stablehlo.add %846, %850 : tensor<8x128x256xf32>
    %852 = stablehlo.dot_general %851, %188, contracting_dims = [0, 1] x [0, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<8x4x128x64xf32>) -> tensor<256x4x64xf32>
    %853 = stablehlo.transpose %852, dims = [1, 2, 0] : (tensor<256x4x64xf32>) -> tensor<4x64x256xf32>
    %854 = stablehlo.dot_general %851, %arg18, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<4x64x256xf32>) -> tensor<8x128x4x64xf32>
    %855 = stablehlo.transpose %854, dims = [0, 2, 1, 3] : (tensor<8x128x4x64xf32>) -> tensor<8x4x128x64xf32>
    %856 = stablehlo.dot_general %855, %184, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<8x4x128x128xf32>) -> tensor<8x4x64x128xf32>
    %857 = stablehlo.transpose %856, dims = [0, 1, 3, 2] : (tensor<8x4x64x128xf32>) -> tensor<8x4x128x64xf32>
    %858 = stablehlo.dot_general %855, %152, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x128xf32>
    %859 = stablehlo.broadcast_in_dim %187, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %860 = stablehlo.multiply %858, %859 : tensor<8x4x128x128xf32>
    %861 = stablehlo.multiply %860, %180 : tensor<8x4x128x128xf32>
    %cst_213 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %862 = stablehlo.reduce(%861 init: %cst_213) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %863 = stablehlo.reshape %862 : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %864 = stablehlo.negate %863 : tensor<8x4x128x1xf32>
    %865 = stablehlo.broadcast_in_dim %182, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %866 = stablehlo.divide %858, %865 : tensor<8x4x128x128xf32>
    %cst_214 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %867 = stablehlo.reduce(%864 init: %cst_214) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x1xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %868 = stablehlo.broadcast_in_dim %867, dims = [0, 1, 2] : (tensor<8x4x128xf32>) -> tensor<8x4x128x128xf32>
    %869 = stablehlo.add %866, %868 : tensor<8x4x128x128xf32>
    %870 = stablehlo.multiply %869, %180 : tensor<8x4x128x128xf32>
    %871 = call @_where_3(%158#1, %158#2, %870) : (tensor<8x4x128x128xi1>, tensor<8x4x128x128xf32>, tensor<8x4x128x128xf32>) -> tensor<8x4x128x128xf32>
    %cst_215 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %872 = stablehlo.broadcast_in_dim %cst_215, dims = [] : (tensor<f32>) -> tensor<8x4x128x128xf32>
    %873 = stablehlo.divide %871, %872 : tensor<8x4x128x128xf32>
    %874 = stablehlo.dot_general %873, %148, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x128xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x64xf32>
    %875 = stablehlo.dot_general %873, %150, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x128xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x64xf32>
    %876 = stablehlo.transpose %857, dims = [1, 3, 0, 2] : (tensor<8x4x128x64xf32>) -> tensor<4x64x8x128xf32>
    %877 = stablehlo.dot_general %876, %arg22, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<256x4x64xf32>) -> tensor<8x128x256xf32>
    %878 = stablehlo.dot_general %876, %146, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<8x128x256xf32>) -> tensor<4x64x256xf32>
    %879 = stablehlo.transpose %878, dims = [2, 0, 1] : (tensor<4x64x256xf32>) -> tensor<256x4x64xf32>
    %880 = stablehlo.transpose %874, dims = [1, 3, 0, 2] : (tensor<8x4x128x64xf32>) -> tensor<4x64x8x128xf32>
    %881 = stablehlo.dot_general %880, %arg13, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<256x4x64xf32>) -> tensor<8x128x256xf32>
    %882 = stablehlo.add %877, %881 : tensor<8x128x256xf32>
    %883 = stablehlo.dot_general %880, %146, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<8x128x256xf32>) -> tensor<4x64x256xf32>
    %884 = stablehlo.transpose %883, dims = [2, 0, 1] : (tensor<4x64x256xf32>) -> tensor<256x4x64xf32>
    %885 = stablehlo.transpose %875, dims = [1, 3, 0, 2] : (tensor<8x4x128x64xf32>) -> tensor<4x64x8x128xf32>
    %886 = stablehlo.dot_general %885, %arg19, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<256x4x64xf32>) -> tensor<8x128x256xf32>
    %887 = stablehlo.add %882, %886 : tensor<8x128x256xf32>
    %888 = stablehlo.dot_general %885, %146, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<8x128x256xf32>) -> tensor<4x64x256xf32>
    %889 = stablehlo.transpose %888, dims = [2, 0, 1] : (tensor<4x64x256xf32>) -> tensor<256x4x64xf32>
    %cst_216 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %890 = stablehlo.reduce(%887 init: %cst_216) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %891 = stablehlo.reshape %890 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_217 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %892 = stablehlo.reduce(%891 init: %cst_217) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %893 = stablehlo.multiply %140, %887 : tensor<8x128x256xf32>
    %cst_218 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %894 = stablehlo.reduce(%893 init: %cst_218) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %895 = stablehlo.reshape %894 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %896 = stablehlo.broadcast_in_dim %141, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %897 = stablehlo.multiply %887, %896 : tensor<8x128x256xf32>
    %cst_219 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %898 = stablehlo.reduce(%895 init: %cst_219) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %899 = stablehlo.multiply %127, %897 : tensor<8x128x256xf32>
    %cst_220 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %900 = stablehlo.reduce(%899 init: %cst_220) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %901 = stablehlo.reshape %900 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %902 = stablehlo.broadcast_in_dim %135, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %903 = stablehlo.multiply %897, %902 : tensor<8x128x256xf32>
    %904 = stablehlo.multiply %901, %138 : tensor<8x128x1xf32>
    %cst_221 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %905 = stablehlo.broadcast_in_dim %cst_221, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %906 = stablehlo.divide %904, %905 : tensor<8x128x1xf32>
    %cst_222 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %907 = stablehlo.reduce(%906 init: %cst_222) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %908 = stablehlo.broadcast_in_dim %907, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %909 = stablehlo.multiply %127, %908 : tensor<8x128x256xf32>
    %910 = stablehlo.add %903, %909 : tensor<8x128x256xf32>
    %911 = stablehlo.multiply %908, %127 : tensor<8x128x256xf32>
    %912 = stablehlo.add %910, %911 : tensor<8x128x256xf32>
    %913 = stablehlo.negate %912 : tensor<8x128x256xf32>
    %cst_223 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %914 = stablehlo.reduce(%913 init: %cst_223) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %915 = stablehlo.reshape %914 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %916 = stablehlo.add %851, %912 : tensor<8x128x256xf32>
    %cst_224 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %917 = stablehlo.broadcast_in_dim %cst_224, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %918 = stablehlo.divide %915, %917 : tensor<8x128x1xf32>
    %cst_225 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %919 = stablehlo.reduce(%918 init: %cst_225) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %920 = stablehlo.broadcast_in_dim %919, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %921 = stablehlo.add %916, %920 : tensor<8x128x256xf32>
    %922 = stablehlo.dot_general %921, %119, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<8x128x1024xf32>) -> tensor<256x1024xf32>
    %923 = stablehlo.transpose %922, dims = [1, 0] : (tensor<256x1024xf32>) -> tensor<1024x256xf32>
    %924 = stablehlo.dot_general %921, %arg1, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<1024x256xf32>) -> tensor<8x128x1024xf32>
    %925 = stablehlo.multiply %101, %924 : tensor<8x128x1024xf32>
    %926 = stablehlo.multiply %924, %118 : tensor<8x128x1024xf32>
    %cst_226 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %927 = stablehlo.broadcast_in_dim %cst_226, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %928 = stablehlo.multiply %927, %925 : tensor<8x128x1024xf32>
    %929 = stablehlo.multiply %928, %114 : tensor<8x128x1024xf32>
    %930 = stablehlo.multiply %929, %112 : tensor<8x128x1024xf32>
    %931 = stablehlo.add %929, %930 : tensor<8x128x1024xf32>
    %cst_227 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %932 = stablehlo.broadcast_in_dim %cst_227, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %933 = stablehlo.multiply %932, %931 : tensor<8x128x1024xf32>
    %934 = stablehlo.add %926, %933 : tensor<8x128x1024xf32>
    %cst_228 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %935 = stablehlo.broadcast_in_dim %cst_228, dims = [] : (tensor<f32>) -> tensor<8x128x1024xf32>
    %936 = stablehlo.multiply %935, %933 : tensor<8x128x1024xf32>
    %937 = stablehlo.multiply %936, %106 : tensor<8x128x1024xf32>
    %938 = stablehlo.add %934, %937 : tensor<8x128x1024xf32>
    %cst_229 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %939 = stablehlo.reduce(%938 init: %cst_229) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %940 = stablehlo.reshape %939 : (tensor<1024xf32>) -> tensor<1x1x1024xf32>
    %cst_230 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %941 = stablehlo.reduce(%940 init: %cst_230) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %942 = stablehlo.dot_general %938, %97, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<8x128x256xf32>) -> tensor<1024x256xf32>
    %943 = stablehlo.transpose %942, dims = [1, 0] : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %944 = stablehlo.dot_general %938, %arg9, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x128x1024xf32>, tensor<256x1024xf32>) -> tensor<8x128x256xf32>
    %cst_231 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %945 = stablehlo.reduce(%944 init: %cst_231) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %946 = stablehlo.reshape %945 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_232 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %947 = stablehlo.reduce(%946 init: %cst_232) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %948 = stablehlo.multiply %91, %944 : tensor<8x128x256xf32>
    %cst_233 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %949 = stablehlo.reduce(%948 init: %cst_233) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %950 = stablehlo.reshape %949 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %951 = stablehlo.broadcast_in_dim %92, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %952 = stablehlo.multiply %944, %951 : tensor<8x128x256xf32>
    %cst_234 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %953 = stablehlo.reduce(%950 init: %cst_234) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %954 = stablehlo.multiply %78, %952 : tensor<8x128x256xf32>
    %cst_235 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %955 = stablehlo.reduce(%954 init: %cst_235) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %956 = stablehlo.reshape %955 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %957 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %958 = stablehlo.multiply %952, %957 : tensor<8x128x256xf32>
    %959 = stablehlo.multiply %956, %89 : tensor<8x128x1xf32>
    %cst_236 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %960 = stablehlo.broadcast_in_dim %cst_236, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %961 = stablehlo.divide %959, %960 : tensor<8x128x1xf32>
    %cst_237 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %962 = stablehlo.reduce(%961 init: %cst_237) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %963 = stablehlo.broadcast_in_dim %962, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %964 = stablehlo.multiply %78, %963 : tensor<8x128x256xf32>
    %965 = stablehlo.add %958, %964 : tensor<8x128x256xf32>
    %966 = stablehlo.multiply %963, %78 : tensor<8x128x256xf32>
    %967 = stablehlo.add %965, %966 : tensor<8x128x256xf32>
    %968 = stablehlo.negate %967 : tensor<8x128x256xf32>
    %cst_238 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %969 = stablehlo.reduce(%968 init: %cst_238) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %970 = stablehlo.reshape %969 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %971 = stablehlo.add %921, %967 : tensor<8x128x256xf32>
    %cst_239 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %972 = stablehlo.broadcast_in_dim %cst_239, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %973 = stablehlo.divide %970, %972 : tensor<8x128x1xf32>
    %cst_240 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %974 = stablehlo.reduce(%973 init: %cst_240) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %975 = stablehlo.broadcast_in_dim %974, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %976 = stablehlo.add %971, %975 : tensor<8x128x256xf32>
    %977 = stablehlo.dot_general %976, %70, contracting_dims = [0, 1] x [0, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<8x4x128x64xf32>) -> tensor<256x4x64xf32>
    %978 = stablehlo.transpose %977, dims = [1, 2, 0] : (tensor<256x4x64xf32>) -> tensor<4x64x256xf32>
    %979 = stablehlo.dot_general %976, %arg7, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x128x256xf32>, tensor<4x64x256xf32>) -> tensor<8x128x4x64xf32>
    %980 = stablehlo.transpose %979, dims = [0, 2, 1, 3] : (tensor<8x128x4x64xf32>) -> tensor<8x4x128x64xf32>
    %981 = stablehlo.dot_general %980, %66, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<8x4x128x128xf32>) -> tensor<8x4x64x128xf32>
    %982 = stablehlo.transpose %981, dims = [0, 1, 3, 2] : (tensor<8x4x64x128xf32>) -> tensor<8x4x128x64xf32>
    %983 = stablehlo.dot_general %980, %34, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x64xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x128xf32>
    %984 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %985 = stablehlo.multiply %983, %984 : tensor<8x4x128x128xf32>
    %986 = stablehlo.multiply %985, %62 : tensor<8x4x128x128xf32>
    %cst_241 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %987 = stablehlo.reduce(%986 init: %cst_241) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x128xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %988 = stablehlo.reshape %987 : (tensor<8x4x128xf32>) -> tensor<8x4x128x1xf32>
    %989 = stablehlo.negate %988 : tensor<8x4x128x1xf32>
    %990 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2, 3] : (tensor<8x4x128x1xf32>) -> tensor<8x4x128x128xf32>
    %991 = stablehlo.divide %983, %990 : tensor<8x4x128x128xf32>
    %cst_242 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %992 = stablehlo.reduce(%989 init: %cst_242) applies stablehlo.add across dimensions = [3] : (tensor<8x4x128x1xf32>, tensor<f32>) -> tensor<8x4x128xf32>
    %993 = stablehlo.broadcast_in_dim %992, dims = [0, 1, 2] : (tensor<8x4x128xf32>) -> tensor<8x4x128x128xf32>
    %994 = stablehlo.add %991, %993 : tensor<8x4x128x128xf32>
    %995 = stablehlo.multiply %994, %62 : tensor<8x4x128x128xf32>
    %996 = call @_where_3(%40#1, %40#2, %995) : (tensor<8x4x128x128xi1>, tensor<8x4x128x128xf32>, tensor<8x4x128x128xf32>) -> tensor<8x4x128x128xf32>
    %cst_243 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %997 = stablehlo.broadcast_in_dim %cst_243, dims = [] : (tensor<f32>) -> tensor<8x4x128x128xf32>
    %998 = stablehlo.divide %996, %997 : tensor<8x4x128x128xf32>
    %999 = stablehlo.dot_general %998, %30, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x128xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x64xf32>
    %1000 = stablehlo.dot_general %998, %32, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x128x128xf32>, tensor<8x4x128x64xf32>) -> tensor<8x4x128x64xf32>
    %1001 = stablehlo.transpose %982, dims = [1, 3, 0, 2] : (tensor<8x4x128x64xf32>) -> tensor<4x64x8x128xf32>
    %1002 = stablehlo.dot_general %1001, %arg11, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<256x4x64xf32>) -> tensor<8x128x256xf32>
    %1003 = stablehlo.dot_general %1001, %28, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<8x128x256xf32>) -> tensor<4x64x256xf32>
    %1004 = stablehlo.transpose %1003, dims = [2, 0, 1] : (tensor<4x64x256xf32>) -> tensor<256x4x64xf32>
    %1005 = stablehlo.transpose %999, dims = [1, 3, 0, 2] : (tensor<8x4x128x64xf32>) -> tensor<4x64x8x128xf32>
    %1006 = stablehlo.dot_general %1005, %arg2, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<256x4x64xf32>) -> tensor<8x128x256xf32>
    %1007 = stablehlo.add %1002, %1006 : tensor<8x128x256xf32>
    %1008 = stablehlo.dot_general %1005, %28, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<8x128x256xf32>) -> tensor<4x64x256xf32>
    %1009 = stablehlo.transpose %1008, dims = [2, 0, 1] : (tensor<4x64x256xf32>) -> tensor<256x4x64xf32>
    %1010 = stablehlo.transpose %1000, dims = [1, 3, 0, 2] : (tensor<8x4x128x64xf32>) -> tensor<4x64x8x128xf32>
    %1011 = stablehlo.dot_general %1010, %arg8, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<256x4x64xf32>) -> tensor<8x128x256xf32>
    %1012 = stablehlo.add %1007, %1011 : tensor<8x128x256xf32>
    %1013 = stablehlo.dot_general %1010, %28, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x128xf32>, tensor<8x128x256xf32>) -> tensor<4x64x256xf32>
    %1014 = stablehlo.transpose %1013, dims = [2, 0, 1] : (tensor<4x64x256xf32>) -> tensor<256x4x64xf32>
    %cst_244 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1015 = stablehlo.reduce(%1012 init: %cst_244) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1016 = stablehlo.reshape %1015 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_245 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1017 = stablehlo.reduce(%1016 init: %cst_245) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1018 = stablehlo.multiply %22, %1012 : tensor<8x128x256xf32>
    %cst_246 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1019 = stablehlo.reduce(%1018 init: %cst_246) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1020 = stablehlo.reshape %1019 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %1021 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x128x256xf32>
    %1022 = stablehlo.multiply %1012, %1021 : tensor<8x128x256xf32>
    %cst_247 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1023 = stablehlo.reduce(%1020 init: %cst_247) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %1024 = stablehlo.multiply %9, %1022 : tensor<8x128x256xf32>
    %cst_248 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1025 = stablehlo.reduce(%1024 init: %cst_248) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %1026 = stablehlo.reshape %1025 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %1027 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x256xf32>
    %1028 = stablehlo.multiply %1022, %1027 : tensor<8x128x256xf32>
    %1029 = stablehlo.multiply %1026, %20 : tensor<8x128x1xf32>
    %cst_249 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %1030 = stablehlo.broadcast_in_dim %cst_249, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %1031 = stablehlo.divide %1029, %1030 : tensor<8x128x1xf32>
    %cst_250 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1032 = stablehlo.reduce(%1031 init: %cst_250) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %1033 = stablehlo.broadcast_in_dim %1032, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %1034 = stablehlo.multiply %9, %1033 : tensor<8x128x256xf32>
    %1035 = stablehlo.add %1028, %1034 : tensor<8x128x256xf32>
    %1036 = stablehlo.multiply %1033, %9 : tensor<8x128x256xf32>
    %1037 = stablehlo.add %1035, %1036 : tensor<8x128x256xf32>
    %1038 = stablehlo.negate %1037 : tensor<8x128x256xf32>
    %cst_251 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1039 = stablehlo.reduce(%1038 init: %cst_251) applies stablehlo.add across dimensions = [2] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<8x128xf32>
    %1040 = stablehlo.reshape %1039 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %1041 = stablehlo.add %976, %1037 : tensor<8x128x256xf32>
    %cst_252 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %1042 = stablehlo.broadcast_in_dim %cst_252, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %1043 = stablehlo.divide %1040, %1042 : tensor<8x128x1xf32>
    %cst_253 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1044 = stablehlo.reduce(%1043 init: %cst_253) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %1045 = stablehlo.broadcast_in_dim %1044, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x256xf32>
    %1046 = stablehlo.add %1041, %1045 : tensor<8x128x256xf32>
    %cst_254 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1047 = stablehlo.reduce(%1046 init: %cst_254) applies stablehlo.add across dimensions = [0] : (tensor<8x128x256xf32>, tensor<f32>) -> tensor<128x256xf32>
    %1048 = stablehlo.reshape %1047 : (tensor<128x256xf32>) -> tensor<1x128x256xf32>
    %cst_255 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1049 = stablehlo.reduce(%1048 init: %cst_255) applies stablehlo.add across dimensions = [0] : (tensor<1x128x256xf32>, tensor<f32>) -> tensor<128x256xf32>
    %1050 = call @_take_4(%0#1, %1046) : (tensor<8x128x1xi32>, tensor<8x128x256xf32>) -> tensor<65x256xf32>
    %c_256 = stablehlo.constant dense<1> : tensor<i32>
    %1051 = stablehlo.add %arg49, %c_256 : tensor<i32>
    %cst_257 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1052 = stablehlo.broadcast_in_dim %cst_257, dims = [] : (tensor<f32>) -> tensor<65x256xf32>
    %1053 = stablehlo.multiply %1052, %arg50 : tensor<65x256xf32>
    %cst_258 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1054 = stablehlo.broadcast_in_dim %cst_258, dims = [] : (tensor<f32>) -> tensor<65x256xf32>
    %1055 = stablehlo.multiply %1054, %1050 : tensor<65x256xf32>
    %1056 = stablehlo.add %1053, %1055 : tensor<65x256xf32>
    %cst_259 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1057 = stablehlo.broadcast_in_dim %cst_259, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1058 = stablehlo.multiply %1057, %arg51 : tensor<1024x256xf32>
    %cst_260 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1059 = stablehlo.broadcast_in_dim %cst_260, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1060 = stablehlo.multiply %1059, %923 : tensor<1024x256xf32>
    %1061 = stablehlo.add %1058, %1060 : tensor<1024x256xf32>
    %cst_261 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1062 = stablehlo.broadcast_in_dim %cst_261, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1063 = stablehlo.multiply %1062, %arg52 : tensor<256x4x64xf32>
    %cst_262 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1064 = stablehlo.broadcast_in_dim %cst_262, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1065 = stablehlo.multiply %1064, %1009 : tensor<256x4x64xf32>
    %1066 = stablehlo.add %1063, %1065 : tensor<256x4x64xf32>
    %cst_263 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1067 = stablehlo.broadcast_in_dim %cst_263, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1068 = stablehlo.multiply %1067, %arg53 : tensor<256xf32>
    %cst_264 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1069 = stablehlo.broadcast_in_dim %cst_264, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1070 = stablehlo.multiply %1069, %1023 : tensor<256xf32>
    %1071 = stablehlo.add %1068, %1070 : tensor<256xf32>
    %cst_265 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1072 = stablehlo.broadcast_in_dim %cst_265, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1073 = stablehlo.multiply %1072, %arg54 : tensor<256xf32>
    %cst_266 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1074 = stablehlo.broadcast_in_dim %cst_266, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1075 = stablehlo.multiply %1074, %1017 : tensor<256xf32>
    %1076 = stablehlo.add %1073, %1075 : tensor<256xf32>
    %cst_267 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1077 = stablehlo.broadcast_in_dim %cst_267, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1078 = stablehlo.multiply %1077, %arg55 : tensor<256xf32>
    %cst_268 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1079 = stablehlo.broadcast_in_dim %cst_268, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1080 = stablehlo.multiply %1079, %953 : tensor<256xf32>
    %1081 = stablehlo.add %1078, %1080 : tensor<256xf32>
    %cst_269 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1082 = stablehlo.broadcast_in_dim %cst_269, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1083 = stablehlo.multiply %1082, %arg56 : tensor<256xf32>
    %cst_270 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1084 = stablehlo.broadcast_in_dim %cst_270, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1085 = stablehlo.multiply %1084, %947 : tensor<256xf32>
    %1086 = stablehlo.add %1083, %1085 : tensor<256xf32>
    %cst_271 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1087 = stablehlo.broadcast_in_dim %cst_271, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1088 = stablehlo.multiply %1087, %arg57 : tensor<4x64x256xf32>
    %cst_272 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1089 = stablehlo.broadcast_in_dim %cst_272, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1090 = stablehlo.multiply %1089, %978 : tensor<4x64x256xf32>
    %1091 = stablehlo.add %1088, %1090 : tensor<4x64x256xf32>
    %cst_273 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1092 = stablehlo.broadcast_in_dim %cst_273, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1093 = stablehlo.multiply %1092, %arg58 : tensor<256x4x64xf32>
    %cst_274 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1094 = stablehlo.broadcast_in_dim %cst_274, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1095 = stablehlo.multiply %1094, %1014 : tensor<256x4x64xf32>
    %1096 = stablehlo.add %1093, %1095 : tensor<256x4x64xf32>
    %cst_275 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1097 = stablehlo.broadcast_in_dim %cst_275, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1098 = stablehlo.multiply %1097, %arg59 : tensor<256x1024xf32>
    %cst_276 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1099 = stablehlo.broadcast_in_dim %cst_276, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1100 = stablehlo.multiply %1099, %943 : tensor<256x1024xf32>
    %1101 = stablehlo.add %1098, %1100 : tensor<256x1024xf32>
    %cst_277 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1102 = stablehlo.broadcast_in_dim %cst_277, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1103 = stablehlo.multiply %1102, %arg60 : tensor<1024xf32>
    %cst_278 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1104 = stablehlo.broadcast_in_dim %cst_278, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1105 = stablehlo.multiply %1104, %941 : tensor<1024xf32>
    %1106 = stablehlo.add %1103, %1105 : tensor<1024xf32>
    %cst_279 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1107 = stablehlo.broadcast_in_dim %cst_279, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1108 = stablehlo.multiply %1107, %arg61 : tensor<256x4x64xf32>
    %cst_280 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1109 = stablehlo.broadcast_in_dim %cst_280, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1110 = stablehlo.multiply %1109, %1004 : tensor<256x4x64xf32>
    %1111 = stablehlo.add %1108, %1110 : tensor<256x4x64xf32>
    %cst_281 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1112 = stablehlo.broadcast_in_dim %cst_281, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1113 = stablehlo.multiply %1112, %arg62 : tensor<1024x256xf32>
    %cst_282 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1114 = stablehlo.broadcast_in_dim %cst_282, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1115 = stablehlo.multiply %1114, %798 : tensor<1024x256xf32>
    %1116 = stablehlo.add %1113, %1115 : tensor<1024x256xf32>
    %cst_283 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1117 = stablehlo.broadcast_in_dim %cst_283, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1118 = stablehlo.multiply %1117, %arg63 : tensor<256x4x64xf32>
    %cst_284 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1119 = stablehlo.broadcast_in_dim %cst_284, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1120 = stablehlo.multiply %1119, %884 : tensor<256x4x64xf32>
    %1121 = stablehlo.add %1118, %1120 : tensor<256x4x64xf32>
    %cst_285 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1122 = stablehlo.broadcast_in_dim %cst_285, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1123 = stablehlo.multiply %1122, %arg64 : tensor<256xf32>
    %cst_286 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1124 = stablehlo.broadcast_in_dim %cst_286, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1125 = stablehlo.multiply %1124, %898 : tensor<256xf32>
    %1126 = stablehlo.add %1123, %1125 : tensor<256xf32>
    %cst_287 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1127 = stablehlo.broadcast_in_dim %cst_287, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1128 = stablehlo.multiply %1127, %arg65 : tensor<256xf32>
    %cst_288 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1129 = stablehlo.broadcast_in_dim %cst_288, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1130 = stablehlo.multiply %1129, %892 : tensor<256xf32>
    %1131 = stablehlo.add %1128, %1130 : tensor<256xf32>
    %cst_289 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1132 = stablehlo.broadcast_in_dim %cst_289, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1133 = stablehlo.multiply %1132, %arg66 : tensor<256xf32>
    %cst_290 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1134 = stablehlo.broadcast_in_dim %cst_290, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1135 = stablehlo.multiply %1134, %828 : tensor<256xf32>
    %1136 = stablehlo.add %1133, %1135 : tensor<256xf32>
    %cst_291 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1137 = stablehlo.broadcast_in_dim %cst_291, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1138 = stablehlo.multiply %1137, %arg67 : tensor<256xf32>
    %cst_292 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1139 = stablehlo.broadcast_in_dim %cst_292, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1140 = stablehlo.multiply %1139, %822 : tensor<256xf32>
    %1141 = stablehlo.add %1138, %1140 : tensor<256xf32>
    %cst_293 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1142 = stablehlo.broadcast_in_dim %cst_293, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1143 = stablehlo.multiply %1142, %arg68 : tensor<4x64x256xf32>
    %cst_294 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1144 = stablehlo.broadcast_in_dim %cst_294, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1145 = stablehlo.multiply %1144, %853 : tensor<4x64x256xf32>
    %1146 = stablehlo.add %1143, %1145 : tensor<4x64x256xf32>
    %cst_295 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1147 = stablehlo.broadcast_in_dim %cst_295, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1148 = stablehlo.multiply %1147, %arg69 : tensor<256x4x64xf32>
    %cst_296 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1149 = stablehlo.broadcast_in_dim %cst_296, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1150 = stablehlo.multiply %1149, %889 : tensor<256x4x64xf32>
    %1151 = stablehlo.add %1148, %1150 : tensor<256x4x64xf32>
    %cst_297 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1152 = stablehlo.broadcast_in_dim %cst_297, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1153 = stablehlo.multiply %1152, %arg70 : tensor<256x1024xf32>
    %cst_298 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1154 = stablehlo.broadcast_in_dim %cst_298, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1155 = stablehlo.multiply %1154, %818 : tensor<256x1024xf32>
    %1156 = stablehlo.add %1153, %1155 : tensor<256x1024xf32>
    %cst_299 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1157 = stablehlo.broadcast_in_dim %cst_299, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1158 = stablehlo.multiply %1157, %arg71 : tensor<1024xf32>
    %cst_300 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1159 = stablehlo.broadcast_in_dim %cst_300, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1160 = stablehlo.multiply %1159, %816 : tensor<1024xf32>
    %1161 = stablehlo.add %1158, %1160 : tensor<1024xf32>
    %cst_301 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1162 = stablehlo.broadcast_in_dim %cst_301, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1163 = stablehlo.multiply %1162, %arg72 : tensor<256x4x64xf32>
    %cst_302 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1164 = stablehlo.broadcast_in_dim %cst_302, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1165 = stablehlo.multiply %1164, %879 : tensor<256x4x64xf32>
    %1166 = stablehlo.add %1163, %1165 : tensor<256x4x64xf32>
    %cst_303 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1167 = stablehlo.broadcast_in_dim %cst_303, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1168 = stablehlo.multiply %1167, %arg73 : tensor<1024x256xf32>
    %cst_304 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1169 = stablehlo.broadcast_in_dim %cst_304, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1170 = stablehlo.multiply %1169, %673 : tensor<1024x256xf32>
    %1171 = stablehlo.add %1168, %1170 : tensor<1024x256xf32>
    %cst_305 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1172 = stablehlo.broadcast_in_dim %cst_305, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1173 = stablehlo.multiply %1172, %arg74 : tensor<256x4x64xf32>
    %cst_306 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1174 = stablehlo.broadcast_in_dim %cst_306, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1175 = stablehlo.multiply %1174, %759 : tensor<256x4x64xf32>
    %1176 = stablehlo.add %1173, %1175 : tensor<256x4x64xf32>
    %cst_307 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1177 = stablehlo.broadcast_in_dim %cst_307, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1178 = stablehlo.multiply %1177, %arg75 : tensor<256xf32>
    %cst_308 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1179 = stablehlo.broadcast_in_dim %cst_308, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1180 = stablehlo.multiply %1179, %773 : tensor<256xf32>
    %1181 = stablehlo.add %1178, %1180 : tensor<256xf32>
    %cst_309 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1182 = stablehlo.broadcast_in_dim %cst_309, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1183 = stablehlo.multiply %1182, %arg76 : tensor<256xf32>
    %cst_310 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1184 = stablehlo.broadcast_in_dim %cst_310, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1185 = stablehlo.multiply %1184, %767 : tensor<256xf32>
    %1186 = stablehlo.add %1183, %1185 : tensor<256xf32>
    %cst_311 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1187 = stablehlo.broadcast_in_dim %cst_311, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1188 = stablehlo.multiply %1187, %arg77 : tensor<256xf32>
    %cst_312 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1189 = stablehlo.broadcast_in_dim %cst_312, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1190 = stablehlo.multiply %1189, %703 : tensor<256xf32>
    %1191 = stablehlo.add %1188, %1190 : tensor<256xf32>
    %cst_313 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1192 = stablehlo.broadcast_in_dim %cst_313, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1193 = stablehlo.multiply %1192, %arg78 : tensor<256xf32>
    %cst_314 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1194 = stablehlo.broadcast_in_dim %cst_314, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1195 = stablehlo.multiply %1194, %697 : tensor<256xf32>
    %1196 = stablehlo.add %1193, %1195 : tensor<256xf32>
    %cst_315 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1197 = stablehlo.broadcast_in_dim %cst_315, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1198 = stablehlo.multiply %1197, %arg79 : tensor<4x64x256xf32>
    %cst_316 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1199 = stablehlo.broadcast_in_dim %cst_316, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1200 = stablehlo.multiply %1199, %728 : tensor<4x64x256xf32>
    %1201 = stablehlo.add %1198, %1200 : tensor<4x64x256xf32>
    %cst_317 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1202 = stablehlo.broadcast_in_dim %cst_317, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1203 = stablehlo.multiply %1202, %arg80 : tensor<256x4x64xf32>
    %cst_318 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1204 = stablehlo.broadcast_in_dim %cst_318, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1205 = stablehlo.multiply %1204, %764 : tensor<256x4x64xf32>
    %1206 = stablehlo.add %1203, %1205 : tensor<256x4x64xf32>
    %cst_319 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1207 = stablehlo.broadcast_in_dim %cst_319, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1208 = stablehlo.multiply %1207, %arg81 : tensor<256x1024xf32>
    %cst_320 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1209 = stablehlo.broadcast_in_dim %cst_320, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1210 = stablehlo.multiply %1209, %693 : tensor<256x1024xf32>
    %1211 = stablehlo.add %1208, %1210 : tensor<256x1024xf32>
    %cst_321 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1212 = stablehlo.broadcast_in_dim %cst_321, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1213 = stablehlo.multiply %1212, %arg82 : tensor<1024xf32>
    %cst_322 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1214 = stablehlo.broadcast_in_dim %cst_322, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1215 = stablehlo.multiply %1214, %691 : tensor<1024xf32>
    %1216 = stablehlo.add %1213, %1215 : tensor<1024xf32>
    %cst_323 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1217 = stablehlo.broadcast_in_dim %cst_323, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1218 = stablehlo.multiply %1217, %arg83 : tensor<256x4x64xf32>
    %cst_324 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1219 = stablehlo.broadcast_in_dim %cst_324, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1220 = stablehlo.multiply %1219, %754 : tensor<256x4x64xf32>
    %1221 = stablehlo.add %1218, %1220 : tensor<256x4x64xf32>
    %cst_325 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1222 = stablehlo.broadcast_in_dim %cst_325, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1223 = stablehlo.multiply %1222, %arg84 : tensor<1024x256xf32>
    %cst_326 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1224 = stablehlo.broadcast_in_dim %cst_326, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1225 = stablehlo.multiply %1224, %548 : tensor<1024x256xf32>
    %1226 = stablehlo.add %1223, %1225 : tensor<1024x256xf32>
    %cst_327 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1227 = stablehlo.broadcast_in_dim %cst_327, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1228 = stablehlo.multiply %1227, %arg85 : tensor<256x4x64xf32>
    %cst_328 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1229 = stablehlo.broadcast_in_dim %cst_328, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1230 = stablehlo.multiply %1229, %634 : tensor<256x4x64xf32>
    %1231 = stablehlo.add %1228, %1230 : tensor<256x4x64xf32>
    %cst_329 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1232 = stablehlo.broadcast_in_dim %cst_329, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1233 = stablehlo.multiply %1232, %arg86 : tensor<256xf32>
    %cst_330 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1234 = stablehlo.broadcast_in_dim %cst_330, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1235 = stablehlo.multiply %1234, %648 : tensor<256xf32>
    %1236 = stablehlo.add %1233, %1235 : tensor<256xf32>
    %cst_331 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1237 = stablehlo.broadcast_in_dim %cst_331, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1238 = stablehlo.multiply %1237, %arg87 : tensor<256xf32>
    %cst_332 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1239 = stablehlo.broadcast_in_dim %cst_332, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1240 = stablehlo.multiply %1239, %642 : tensor<256xf32>
    %1241 = stablehlo.add %1238, %1240 : tensor<256xf32>
    %cst_333 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1242 = stablehlo.broadcast_in_dim %cst_333, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1243 = stablehlo.multiply %1242, %arg88 : tensor<256xf32>
    %cst_334 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1244 = stablehlo.broadcast_in_dim %cst_334, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1245 = stablehlo.multiply %1244, %578 : tensor<256xf32>
    %1246 = stablehlo.add %1243, %1245 : tensor<256xf32>
    %cst_335 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1247 = stablehlo.broadcast_in_dim %cst_335, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1248 = stablehlo.multiply %1247, %arg89 : tensor<256xf32>
    %cst_336 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1249 = stablehlo.broadcast_in_dim %cst_336, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1250 = stablehlo.multiply %1249, %572 : tensor<256xf32>
    %1251 = stablehlo.add %1248, %1250 : tensor<256xf32>
    %cst_337 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1252 = stablehlo.broadcast_in_dim %cst_337, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1253 = stablehlo.multiply %1252, %arg90 : tensor<4x64x256xf32>
    %cst_338 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1254 = stablehlo.broadcast_in_dim %cst_338, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1255 = stablehlo.multiply %1254, %603 : tensor<4x64x256xf32>
    %1256 = stablehlo.add %1253, %1255 : tensor<4x64x256xf32>
    %cst_339 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1257 = stablehlo.broadcast_in_dim %cst_339, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1258 = stablehlo.multiply %1257, %arg91 : tensor<256x4x64xf32>
    %cst_340 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1259 = stablehlo.broadcast_in_dim %cst_340, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1260 = stablehlo.multiply %1259, %639 : tensor<256x4x64xf32>
    %1261 = stablehlo.add %1258, %1260 : tensor<256x4x64xf32>
    %cst_341 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1262 = stablehlo.broadcast_in_dim %cst_341, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1263 = stablehlo.multiply %1262, %arg92 : tensor<256x1024xf32>
    %cst_342 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1264 = stablehlo.broadcast_in_dim %cst_342, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1265 = stablehlo.multiply %1264, %568 : tensor<256x1024xf32>
    %1266 = stablehlo.add %1263, %1265 : tensor<256x1024xf32>
    %cst_343 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1267 = stablehlo.broadcast_in_dim %cst_343, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1268 = stablehlo.multiply %1267, %arg93 : tensor<1024xf32>
    %cst_344 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1269 = stablehlo.broadcast_in_dim %cst_344, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1270 = stablehlo.multiply %1269, %566 : tensor<1024xf32>
    %1271 = stablehlo.add %1268, %1270 : tensor<1024xf32>
    %cst_345 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1272 = stablehlo.broadcast_in_dim %cst_345, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1273 = stablehlo.multiply %1272, %arg94 : tensor<256x4x64xf32>
    %cst_346 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1274 = stablehlo.broadcast_in_dim %cst_346, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1275 = stablehlo.multiply %1274, %629 : tensor<256x4x64xf32>
    %1276 = stablehlo.add %1273, %1275 : tensor<256x4x64xf32>
    %cst_347 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1277 = stablehlo.broadcast_in_dim %cst_347, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1278 = stablehlo.multiply %1277, %arg95 : tensor<256xf32>
    %cst_348 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1279 = stablehlo.broadcast_in_dim %cst_348, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1280 = stablehlo.multiply %1279, %524 : tensor<256xf32>
    %1281 = stablehlo.add %1278, %1280 : tensor<256xf32>
    %cst_349 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1282 = stablehlo.broadcast_in_dim %cst_349, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1283 = stablehlo.multiply %1282, %arg96 : tensor<256xf32>
    %cst_350 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1284 = stablehlo.broadcast_in_dim %cst_350, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1285 = stablehlo.multiply %1284, %518 : tensor<256xf32>
    %1286 = stablehlo.add %1283, %1285 : tensor<256xf32>
    %cst_351 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1287 = stablehlo.broadcast_in_dim %cst_351, dims = [] : (tensor<f32>) -> tensor<256x65xf32>
    %1288 = stablehlo.multiply %1287, %arg97 : tensor<256x65xf32>
    %cst_352 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1289 = stablehlo.broadcast_in_dim %cst_352, dims = [] : (tensor<f32>) -> tensor<256x65xf32>
    %1290 = stablehlo.multiply %1289, %514 : tensor<256x65xf32>
    %1291 = stablehlo.add %1288, %1290 : tensor<256x65xf32>
    %cst_353 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1292 = stablehlo.broadcast_in_dim %cst_353, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %1293 = stablehlo.multiply %1292, %arg98 : tensor<128x256xf32>
    %cst_354 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %1294 = stablehlo.broadcast_in_dim %cst_354, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %1295 = stablehlo.multiply %1294, %1049 : tensor<128x256xf32>
    %1296 = stablehlo.add %1293, %1295 : tensor<128x256xf32>
    %cst_355 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1297 = stablehlo.broadcast_in_dim %cst_355, dims = [] : (tensor<f32>) -> tensor<65x256xf32>
    %1298 = stablehlo.multiply %1297, %arg99 : tensor<65x256xf32>
    %1299 = stablehlo.multiply %1050, %1050 : tensor<65x256xf32>
    %cst_356 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1300 = stablehlo.broadcast_in_dim %cst_356, dims = [] : (tensor<f32>) -> tensor<65x256xf32>
    %1301 = stablehlo.multiply %1300, %1299 : tensor<65x256xf32>
    %1302 = stablehlo.add %1298, %1301 : tensor<65x256xf32>
    %cst_357 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1303 = stablehlo.broadcast_in_dim %cst_357, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1304 = stablehlo.multiply %1303, %arg100 : tensor<1024x256xf32>
    %1305 = stablehlo.multiply %923, %923 : tensor<1024x256xf32>
    %cst_358 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1306 = stablehlo.broadcast_in_dim %cst_358, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1307 = stablehlo.multiply %1306, %1305 : tensor<1024x256xf32>
    %1308 = stablehlo.add %1304, %1307 : tensor<1024x256xf32>
    %cst_359 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1309 = stablehlo.broadcast_in_dim %cst_359, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1310 = stablehlo.multiply %1309, %arg101 : tensor<256x4x64xf32>
    %1311 = stablehlo.multiply %1009, %1009 : tensor<256x4x64xf32>
    %cst_360 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1312 = stablehlo.broadcast_in_dim %cst_360, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1313 = stablehlo.multiply %1312, %1311 : tensor<256x4x64xf32>
    %1314 = stablehlo.add %1310, %1313 : tensor<256x4x64xf32>
    %cst_361 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1315 = stablehlo.broadcast_in_dim %cst_361, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1316 = stablehlo.multiply %1315, %arg102 : tensor<256xf32>
    %1317 = stablehlo.multiply %1023, %1023 : tensor<256xf32>
    %cst_362 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1318 = stablehlo.broadcast_in_dim %cst_362, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1319 = stablehlo.multiply %1318, %1317 : tensor<256xf32>
    %1320 = stablehlo.add %1316, %1319 : tensor<256xf32>
    %cst_363 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1321 = stablehlo.broadcast_in_dim %cst_363, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1322 = stablehlo.multiply %1321, %arg103 : tensor<256xf32>
    %1323 = stablehlo.multiply %1017, %1017 : tensor<256xf32>
    %cst_364 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1324 = stablehlo.broadcast_in_dim %cst_364, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1325 = stablehlo.multiply %1324, %1323 : tensor<256xf32>
    %1326 = stablehlo.add %1322, %1325 : tensor<256xf32>
    %cst_365 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1327 = stablehlo.broadcast_in_dim %cst_365, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1328 = stablehlo.multiply %1327, %arg104 : tensor<256xf32>
    %1329 = stablehlo.multiply %953, %953 : tensor<256xf32>
    %cst_366 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1330 = stablehlo.broadcast_in_dim %cst_366, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1331 = stablehlo.multiply %1330, %1329 : tensor<256xf32>
    %1332 = stablehlo.add %1328, %1331 : tensor<256xf32>
    %cst_367 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1333 = stablehlo.broadcast_in_dim %cst_367, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1334 = stablehlo.multiply %1333, %arg105 : tensor<256xf32>
    %1335 = stablehlo.multiply %947, %947 : tensor<256xf32>
    %cst_368 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1336 = stablehlo.broadcast_in_dim %cst_368, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1337 = stablehlo.multiply %1336, %1335 : tensor<256xf32>
    %1338 = stablehlo.add %1334, %1337 : tensor<256xf32>
    %cst_369 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1339 = stablehlo.broadcast_in_dim %cst_369, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1340 = stablehlo.multiply %1339, %arg106 : tensor<4x64x256xf32>
    %1341 = stablehlo.multiply %978, %978 : tensor<4x64x256xf32>
    %cst_370 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1342 = stablehlo.broadcast_in_dim %cst_370, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1343 = stablehlo.multiply %1342, %1341 : tensor<4x64x256xf32>
    %1344 = stablehlo.add %1340, %1343 : tensor<4x64x256xf32>
    %cst_371 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1345 = stablehlo.broadcast_in_dim %cst_371, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1346 = stablehlo.multiply %1345, %arg107 : tensor<256x4x64xf32>
    %1347 = stablehlo.multiply %1014, %1014 : tensor<256x4x64xf32>
    %cst_372 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1348 = stablehlo.broadcast_in_dim %cst_372, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1349 = stablehlo.multiply %1348, %1347 : tensor<256x4x64xf32>
    %1350 = stablehlo.add %1346, %1349 : tensor<256x4x64xf32>
    %cst_373 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1351 = stablehlo.broadcast_in_dim %cst_373, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1352 = stablehlo.multiply %1351, %arg108 : tensor<256x1024xf32>
    %1353 = stablehlo.multiply %943, %943 : tensor<256x1024xf32>
    %cst_374 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1354 = stablehlo.broadcast_in_dim %cst_374, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1355 = stablehlo.multiply %1354, %1353 : tensor<256x1024xf32>
    %1356 = stablehlo.add %1352, %1355 : tensor<256x1024xf32>
    %cst_375 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1357 = stablehlo.broadcast_in_dim %cst_375, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1358 = stablehlo.multiply %1357, %arg109 : tensor<1024xf32>
    %1359 = stablehlo.multiply %941, %941 : tensor<1024xf32>
    %cst_376 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1360 = stablehlo.broadcast_in_dim %cst_376, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1361 = stablehlo.multiply %1360, %1359 : tensor<1024xf32>
    %1362 = stablehlo.add %1358, %1361 : tensor<1024xf32>
    %cst_377 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1363 = stablehlo.broadcast_in_dim %cst_377, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1364 = stablehlo.multiply %1363, %arg110 : tensor<256x4x64xf32>
    %1365 = stablehlo.multiply %1004, %1004 : tensor<256x4x64xf32>
    %cst_378 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1366 = stablehlo.broadcast_in_dim %cst_378, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1367 = stablehlo.multiply %1366, %1365 : tensor<256x4x64xf32>
    %1368 = stablehlo.add %1364, %1367 : tensor<256x4x64xf32>
    %cst_379 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1369 = stablehlo.broadcast_in_dim %cst_379, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1370 = stablehlo.multiply %1369, %arg111 : tensor<1024x256xf32>
    %1371 = stablehlo.multiply %798, %798 : tensor<1024x256xf32>
    %cst_380 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1372 = stablehlo.broadcast_in_dim %cst_380, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1373 = stablehlo.multiply %1372, %1371 : tensor<1024x256xf32>
    %1374 = stablehlo.add %1370, %1373 : tensor<1024x256xf32>
    %cst_381 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1375 = stablehlo.broadcast_in_dim %cst_381, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1376 = stablehlo.multiply %1375, %arg112 : tensor<256x4x64xf32>
    %1377 = stablehlo.multiply %884, %884 : tensor<256x4x64xf32>
    %cst_382 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1378 = stablehlo.broadcast_in_dim %cst_382, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1379 = stablehlo.multiply %1378, %1377 : tensor<256x4x64xf32>
    %1380 = stablehlo.add %1376, %1379 : tensor<256x4x64xf32>
    %cst_383 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1381 = stablehlo.broadcast_in_dim %cst_383, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1382 = stablehlo.multiply %1381, %arg113 : tensor<256xf32>
    %1383 = stablehlo.multiply %898, %898 : tensor<256xf32>
    %cst_384 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1384 = stablehlo.broadcast_in_dim %cst_384, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1385 = stablehlo.multiply %1384, %1383 : tensor<256xf32>
    %1386 = stablehlo.add %1382, %1385 : tensor<256xf32>
    %cst_385 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1387 = stablehlo.broadcast_in_dim %cst_385, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1388 = stablehlo.multiply %1387, %arg114 : tensor<256xf32>
    %1389 = stablehlo.multiply %892, %892 : tensor<256xf32>
    %cst_386 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1390 = stablehlo.broadcast_in_dim %cst_386, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1391 = stablehlo.multiply %1390, %1389 : tensor<256xf32>
    %1392 = stablehlo.add %1388, %1391 : tensor<256xf32>
    %cst_387 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1393 = stablehlo.broadcast_in_dim %cst_387, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1394 = stablehlo.multiply %1393, %arg115 : tensor<256xf32>
    %1395 = stablehlo.multiply %828, %828 : tensor<256xf32>
    %cst_388 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1396 = stablehlo.broadcast_in_dim %cst_388, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1397 = stablehlo.multiply %1396, %1395 : tensor<256xf32>
    %1398 = stablehlo.add %1394, %1397 : tensor<256xf32>
    %cst_389 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1399 = stablehlo.broadcast_in_dim %cst_389, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1400 = stablehlo.multiply %1399, %arg116 : tensor<256xf32>
    %1401 = stablehlo.multiply %822, %822 : tensor<256xf32>
    %cst_390 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1402 = stablehlo.broadcast_in_dim %cst_390, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1403 = stablehlo.multiply %1402, %1401 : tensor<256xf32>
    %1404 = stablehlo.add %1400, %1403 : tensor<256xf32>
    %cst_391 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1405 = stablehlo.broadcast_in_dim %cst_391, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1406 = stablehlo.multiply %1405, %arg117 : tensor<4x64x256xf32>
    %1407 = stablehlo.multiply %853, %853 : tensor<4x64x256xf32>
    %cst_392 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1408 = stablehlo.broadcast_in_dim %cst_392, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1409 = stablehlo.multiply %1408, %1407 : tensor<4x64x256xf32>
    %1410 = stablehlo.add %1406, %1409 : tensor<4x64x256xf32>
    %cst_393 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1411 = stablehlo.broadcast_in_dim %cst_393, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1412 = stablehlo.multiply %1411, %arg118 : tensor<256x4x64xf32>
    %1413 = stablehlo.multiply %889, %889 : tensor<256x4x64xf32>
    %cst_394 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1414 = stablehlo.broadcast_in_dim %cst_394, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1415 = stablehlo.multiply %1414, %1413 : tensor<256x4x64xf32>
    %1416 = stablehlo.add %1412, %1415 : tensor<256x4x64xf32>
    %cst_395 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1417 = stablehlo.broadcast_in_dim %cst_395, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1418 = stablehlo.multiply %1417, %arg119 : tensor<256x1024xf32>
    %1419 = stablehlo.multiply %818, %818 : tensor<256x1024xf32>
    %cst_396 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1420 = stablehlo.broadcast_in_dim %cst_396, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1421 = stablehlo.multiply %1420, %1419 : tensor<256x1024xf32>
    %1422 = stablehlo.add %1418, %1421 : tensor<256x1024xf32>
    %cst_397 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1423 = stablehlo.broadcast_in_dim %cst_397, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1424 = stablehlo.multiply %1423, %arg120 : tensor<1024xf32>
    %1425 = stablehlo.multiply %816, %816 : tensor<1024xf32>
    %cst_398 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1426 = stablehlo.broadcast_in_dim %cst_398, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1427 = stablehlo.multiply %1426, %1425 : tensor<1024xf32>
    %1428 = stablehlo.add %1424, %1427 : tensor<1024xf32>
    %cst_399 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1429 = stablehlo.broadcast_in_dim %cst_399, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1430 = stablehlo.multiply %1429, %arg121 : tensor<256x4x64xf32>
    %1431 = stablehlo.multiply %879, %879 : tensor<256x4x64xf32>
    %cst_400 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1432 = stablehlo.broadcast_in_dim %cst_400, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1433 = stablehlo.multiply %1432, %1431 : tensor<256x4x64xf32>
    %1434 = stablehlo.add %1430, %1433 : tensor<256x4x64xf32>
    %cst_401 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1435 = stablehlo.broadcast_in_dim %cst_401, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1436 = stablehlo.multiply %1435, %arg122 : tensor<1024x256xf32>
    %1437 = stablehlo.multiply %673, %673 : tensor<1024x256xf32>
    %cst_402 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1438 = stablehlo.broadcast_in_dim %cst_402, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1439 = stablehlo.multiply %1438, %1437 : tensor<1024x256xf32>
    %1440 = stablehlo.add %1436, %1439 : tensor<1024x256xf32>
    %cst_403 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1441 = stablehlo.broadcast_in_dim %cst_403, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1442 = stablehlo.multiply %1441, %arg123 : tensor<256x4x64xf32>
    %1443 = stablehlo.multiply %759, %759 : tensor<256x4x64xf32>
    %cst_404 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1444 = stablehlo.broadcast_in_dim %cst_404, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1445 = stablehlo.multiply %1444, %1443 : tensor<256x4x64xf32>
    %1446 = stablehlo.add %1442, %1445 : tensor<256x4x64xf32>
    %cst_405 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1447 = stablehlo.broadcast_in_dim %cst_405, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1448 = stablehlo.multiply %1447, %arg124 : tensor<256xf32>
    %1449 = stablehlo.multiply %773, %773 : tensor<256xf32>
    %cst_406 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1450 = stablehlo.broadcast_in_dim %cst_406, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1451 = stablehlo.multiply %1450, %1449 : tensor<256xf32>
    %1452 = stablehlo.add %1448, %1451 : tensor<256xf32>
    %cst_407 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1453 = stablehlo.broadcast_in_dim %cst_407, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1454 = stablehlo.multiply %1453, %arg125 : tensor<256xf32>
    %1455 = stablehlo.multiply %767, %767 : tensor<256xf32>
    %cst_408 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1456 = stablehlo.broadcast_in_dim %cst_408, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1457 = stablehlo.multiply %1456, %1455 : tensor<256xf32>
    %1458 = stablehlo.add %1454, %1457 : tensor<256xf32>
    %cst_409 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1459 = stablehlo.broadcast_in_dim %cst_409, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1460 = stablehlo.multiply %1459, %arg126 : tensor<256xf32>
    %1461 = stablehlo.multiply %703, %703 : tensor<256xf32>
    %cst_410 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1462 = stablehlo.broadcast_in_dim %cst_410, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1463 = stablehlo.multiply %1462, %1461 : tensor<256xf32>
    %1464 = stablehlo.add %1460, %1463 : tensor<256xf32>
    %cst_411 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1465 = stablehlo.broadcast_in_dim %cst_411, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1466 = stablehlo.multiply %1465, %arg127 : tensor<256xf32>
    %1467 = stablehlo.multiply %697, %697 : tensor<256xf32>
    %cst_412 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1468 = stablehlo.broadcast_in_dim %cst_412, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1469 = stablehlo.multiply %1468, %1467 : tensor<256xf32>
    %1470 = stablehlo.add %1466, %1469 : tensor<256xf32>
    %cst_413 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1471 = stablehlo.broadcast_in_dim %cst_413, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1472 = stablehlo.multiply %1471, %arg128 : tensor<4x64x256xf32>
    %1473 = stablehlo.multiply %728, %728 : tensor<4x64x256xf32>
    %cst_414 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1474 = stablehlo.broadcast_in_dim %cst_414, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1475 = stablehlo.multiply %1474, %1473 : tensor<4x64x256xf32>
    %1476 = stablehlo.add %1472, %1475 : tensor<4x64x256xf32>
    %cst_415 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1477 = stablehlo.broadcast_in_dim %cst_415, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1478 = stablehlo.multiply %1477, %arg129 : tensor<256x4x64xf32>
    %1479 = stablehlo.multiply %764, %764 : tensor<256x4x64xf32>
    %cst_416 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1480 = stablehlo.broadcast_in_dim %cst_416, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1481 = stablehlo.multiply %1480, %1479 : tensor<256x4x64xf32>
    %1482 = stablehlo.add %1478, %1481 : tensor<256x4x64xf32>
    %cst_417 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1483 = stablehlo.broadcast_in_dim %cst_417, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1484 = stablehlo.multiply %1483, %arg130 : tensor<256x1024xf32>
    %1485 = stablehlo.multiply %693, %693 : tensor<256x1024xf32>
    %cst_418 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1486 = stablehlo.broadcast_in_dim %cst_418, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1487 = stablehlo.multiply %1486, %1485 : tensor<256x1024xf32>
    %1488 = stablehlo.add %1484, %1487 : tensor<256x1024xf32>
    %cst_419 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1489 = stablehlo.broadcast_in_dim %cst_419, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1490 = stablehlo.multiply %1489, %arg131 : tensor<1024xf32>
    %1491 = stablehlo.multiply %691, %691 : tensor<1024xf32>
    %cst_420 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1492 = stablehlo.broadcast_in_dim %cst_420, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1493 = stablehlo.multiply %1492, %1491 : tensor<1024xf32>
    %1494 = stablehlo.add %1490, %1493 : tensor<1024xf32>
    %cst_421 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1495 = stablehlo.broadcast_in_dim %cst_421, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1496 = stablehlo.multiply %1495, %arg132 : tensor<256x4x64xf32>
    %1497 = stablehlo.multiply %754, %754 : tensor<256x4x64xf32>
    %cst_422 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1498 = stablehlo.broadcast_in_dim %cst_422, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1499 = stablehlo.multiply %1498, %1497 : tensor<256x4x64xf32>
    %1500 = stablehlo.add %1496, %1499 : tensor<256x4x64xf32>
    %cst_423 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1501 = stablehlo.broadcast_in_dim %cst_423, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1502 = stablehlo.multiply %1501, %arg133 : tensor<1024x256xf32>
    %1503 = stablehlo.multiply %548, %548 : tensor<1024x256xf32>
    %cst_424 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1504 = stablehlo.broadcast_in_dim %cst_424, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1505 = stablehlo.multiply %1504, %1503 : tensor<1024x256xf32>
    %1506 = stablehlo.add %1502, %1505 : tensor<1024x256xf32>
    %cst_425 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1507 = stablehlo.broadcast_in_dim %cst_425, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1508 = stablehlo.multiply %1507, %arg134 : tensor<256x4x64xf32>
    %1509 = stablehlo.multiply %634, %634 : tensor<256x4x64xf32>
    %cst_426 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1510 = stablehlo.broadcast_in_dim %cst_426, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1511 = stablehlo.multiply %1510, %1509 : tensor<256x4x64xf32>
    %1512 = stablehlo.add %1508, %1511 : tensor<256x4x64xf32>
    %cst_427 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1513 = stablehlo.broadcast_in_dim %cst_427, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1514 = stablehlo.multiply %1513, %arg135 : tensor<256xf32>
    %1515 = stablehlo.multiply %648, %648 : tensor<256xf32>
    %cst_428 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1516 = stablehlo.broadcast_in_dim %cst_428, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1517 = stablehlo.multiply %1516, %1515 : tensor<256xf32>
    %1518 = stablehlo.add %1514, %1517 : tensor<256xf32>
    %cst_429 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1519 = stablehlo.broadcast_in_dim %cst_429, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1520 = stablehlo.multiply %1519, %arg136 : tensor<256xf32>
    %1521 = stablehlo.multiply %642, %642 : tensor<256xf32>
    %cst_430 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1522 = stablehlo.broadcast_in_dim %cst_430, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1523 = stablehlo.multiply %1522, %1521 : tensor<256xf32>
    %1524 = stablehlo.add %1520, %1523 : tensor<256xf32>
    %cst_431 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1525 = stablehlo.broadcast_in_dim %cst_431, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1526 = stablehlo.multiply %1525, %arg137 : tensor<256xf32>
    %1527 = stablehlo.multiply %578, %578 : tensor<256xf32>
    %cst_432 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1528 = stablehlo.broadcast_in_dim %cst_432, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1529 = stablehlo.multiply %1528, %1527 : tensor<256xf32>
    %1530 = stablehlo.add %1526, %1529 : tensor<256xf32>
    %cst_433 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1531 = stablehlo.broadcast_in_dim %cst_433, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1532 = stablehlo.multiply %1531, %arg138 : tensor<256xf32>
    %1533 = stablehlo.multiply %572, %572 : tensor<256xf32>
    %cst_434 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1534 = stablehlo.broadcast_in_dim %cst_434, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1535 = stablehlo.multiply %1534, %1533 : tensor<256xf32>
    %1536 = stablehlo.add %1532, %1535 : tensor<256xf32>
    %cst_435 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1537 = stablehlo.broadcast_in_dim %cst_435, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1538 = stablehlo.multiply %1537, %arg139 : tensor<4x64x256xf32>
    %1539 = stablehlo.multiply %603, %603 : tensor<4x64x256xf32>
    %cst_436 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1540 = stablehlo.broadcast_in_dim %cst_436, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1541 = stablehlo.multiply %1540, %1539 : tensor<4x64x256xf32>
    %1542 = stablehlo.add %1538, %1541 : tensor<4x64x256xf32>
    %cst_437 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1543 = stablehlo.broadcast_in_dim %cst_437, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1544 = stablehlo.multiply %1543, %arg140 : tensor<256x4x64xf32>
    %1545 = stablehlo.multiply %639, %639 : tensor<256x4x64xf32>
    %cst_438 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1546 = stablehlo.broadcast_in_dim %cst_438, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1547 = stablehlo.multiply %1546, %1545 : tensor<256x4x64xf32>
    %1548 = stablehlo.add %1544, %1547 : tensor<256x4x64xf32>
    %cst_439 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1549 = stablehlo.broadcast_in_dim %cst_439, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1550 = stablehlo.multiply %1549, %arg141 : tensor<256x1024xf32>
    %1551 = stablehlo.multiply %568, %568 : tensor<256x1024xf32>
    %cst_440 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1552 = stablehlo.broadcast_in_dim %cst_440, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1553 = stablehlo.multiply %1552, %1551 : tensor<256x1024xf32>
    %1554 = stablehlo.add %1550, %1553 : tensor<256x1024xf32>
    %cst_441 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1555 = stablehlo.broadcast_in_dim %cst_441, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1556 = stablehlo.multiply %1555, %arg142 : tensor<1024xf32>
    %1557 = stablehlo.multiply %566, %566 : tensor<1024xf32>
    %cst_442 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1558 = stablehlo.broadcast_in_dim %cst_442, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1559 = stablehlo.multiply %1558, %1557 : tensor<1024xf32>
    %1560 = stablehlo.add %1556, %1559 : tensor<1024xf32>
    %cst_443 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1561 = stablehlo.broadcast_in_dim %cst_443, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1562 = stablehlo.multiply %1561, %arg143 : tensor<256x4x64xf32>
    %1563 = stablehlo.multiply %629, %629 : tensor<256x4x64xf32>
    %cst_444 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1564 = stablehlo.broadcast_in_dim %cst_444, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1565 = stablehlo.multiply %1564, %1563 : tensor<256x4x64xf32>
    %1566 = stablehlo.add %1562, %1565 : tensor<256x4x64xf32>
    %cst_445 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1567 = stablehlo.broadcast_in_dim %cst_445, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1568 = stablehlo.multiply %1567, %arg144 : tensor<256xf32>
    %1569 = stablehlo.multiply %524, %524 : tensor<256xf32>
    %cst_446 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1570 = stablehlo.broadcast_in_dim %cst_446, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1571 = stablehlo.multiply %1570, %1569 : tensor<256xf32>
    %1572 = stablehlo.add %1568, %1571 : tensor<256xf32>
    %cst_447 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1573 = stablehlo.broadcast_in_dim %cst_447, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1574 = stablehlo.multiply %1573, %arg145 : tensor<256xf32>
    %1575 = stablehlo.multiply %518, %518 : tensor<256xf32>
    %cst_448 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1576 = stablehlo.broadcast_in_dim %cst_448, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1577 = stablehlo.multiply %1576, %1575 : tensor<256xf32>
    %1578 = stablehlo.add %1574, %1577 : tensor<256xf32>
    %cst_449 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1579 = stablehlo.broadcast_in_dim %cst_449, dims = [] : (tensor<f32>) -> tensor<256x65xf32>
    %1580 = stablehlo.multiply %1579, %arg146 : tensor<256x65xf32>
    %1581 = stablehlo.multiply %514, %514 : tensor<256x65xf32>
    %cst_450 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1582 = stablehlo.broadcast_in_dim %cst_450, dims = [] : (tensor<f32>) -> tensor<256x65xf32>
    %1583 = stablehlo.multiply %1582, %1581 : tensor<256x65xf32>
    %1584 = stablehlo.add %1580, %1583 : tensor<256x65xf32>
    %cst_451 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1585 = stablehlo.broadcast_in_dim %cst_451, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %1586 = stablehlo.multiply %1585, %arg147 : tensor<128x256xf32>
    %1587 = stablehlo.multiply %1049, %1049 : tensor<128x256xf32>
    %cst_452 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %1588 = stablehlo.broadcast_in_dim %cst_452, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %1589 = stablehlo.multiply %1588, %1587 : tensor<128x256xf32>
    %1590 = stablehlo.add %1586, %1589 : tensor<128x256xf32>
    %1591 = stablehlo.convert %1051 : (tensor<i32>) -> tensor<f32>
    %cst_453 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %1592 = stablehlo.convert %1051 : (tensor<i32>) -> tensor<f32>
    %1593 = stablehlo.power %cst_453, %1592 : tensor<f32>
    %cst_454 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1594 = stablehlo.subtract %cst_454, %1593 : tensor<f32>
    %1595 = stablehlo.sqrt %1594 : tensor<f32>
    %cst_455 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %1596 = stablehlo.multiply %cst_455, %1595 : tensor<f32>
    %1597 = stablehlo.convert %1051 : (tensor<i32>) -> tensor<f32>
    %cst_456 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %1598 = stablehlo.convert %1051 : (tensor<i32>) -> tensor<f32>
    %1599 = stablehlo.power %cst_456, %1598 : tensor<f32>
    %cst_457 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %1600 = stablehlo.subtract %cst_457, %1599 : tensor<f32>
    %1601 = stablehlo.divide %1596, %1600 : tensor<f32>
    %1602 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<65x256xf32>
    %1603 = stablehlo.multiply %1602, %1056 : tensor<65x256xf32>
    %1604 = stablehlo.sqrt %1302 : tensor<65x256xf32>
    %cst_458 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1605 = stablehlo.broadcast_in_dim %cst_458, dims = [] : (tensor<f32>) -> tensor<65x256xf32>
    %1606 = stablehlo.add %1604, %1605 : tensor<65x256xf32>
    %1607 = stablehlo.divide %1603, %1606 : tensor<65x256xf32>
    %1608 = stablehlo.subtract %arg0, %1607 : tensor<65x256xf32>
    %1609 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1610 = stablehlo.multiply %1609, %1061 : tensor<1024x256xf32>
    %1611 = stablehlo.sqrt %1308 : tensor<1024x256xf32>
    %cst_459 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1612 = stablehlo.broadcast_in_dim %cst_459, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1613 = stablehlo.add %1611, %1612 : tensor<1024x256xf32>
    %1614 = stablehlo.divide %1610, %1613 : tensor<1024x256xf32>
    %1615 = stablehlo.subtract %arg1, %1614 : tensor<1024x256xf32>
    %1616 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1617 = stablehlo.multiply %1616, %1066 : tensor<256x4x64xf32>
    %1618 = stablehlo.sqrt %1314 : tensor<256x4x64xf32>
    %cst_460 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1619 = stablehlo.broadcast_in_dim %cst_460, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1620 = stablehlo.add %1618, %1619 : tensor<256x4x64xf32>
    %1621 = stablehlo.divide %1617, %1620 : tensor<256x4x64xf32>
    %1622 = stablehlo.subtract %arg2, %1621 : tensor<256x4x64xf32>
    %1623 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1624 = stablehlo.multiply %1623, %1071 : tensor<256xf32>
    %1625 = stablehlo.sqrt %1320 : tensor<256xf32>
    %cst_461 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1626 = stablehlo.broadcast_in_dim %cst_461, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1627 = stablehlo.add %1625, %1626 : tensor<256xf32>
    %1628 = stablehlo.divide %1624, %1627 : tensor<256xf32>
    %1629 = stablehlo.subtract %arg3, %1628 : tensor<256xf32>
    %1630 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1631 = stablehlo.multiply %1630, %1076 : tensor<256xf32>
    %1632 = stablehlo.sqrt %1326 : tensor<256xf32>
    %cst_462 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1633 = stablehlo.broadcast_in_dim %cst_462, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1634 = stablehlo.add %1632, %1633 : tensor<256xf32>
    %1635 = stablehlo.divide %1631, %1634 : tensor<256xf32>
    %1636 = stablehlo.subtract %arg4, %1635 : tensor<256xf32>
    %1637 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1638 = stablehlo.multiply %1637, %1081 : tensor<256xf32>
    %1639 = stablehlo.sqrt %1332 : tensor<256xf32>
    %cst_463 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1640 = stablehlo.broadcast_in_dim %cst_463, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1641 = stablehlo.add %1639, %1640 : tensor<256xf32>
    %1642 = stablehlo.divide %1638, %1641 : tensor<256xf32>
    %1643 = stablehlo.subtract %arg5, %1642 : tensor<256xf32>
    %1644 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1645 = stablehlo.multiply %1644, %1086 : tensor<256xf32>
    %1646 = stablehlo.sqrt %1338 : tensor<256xf32>
    %cst_464 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1647 = stablehlo.broadcast_in_dim %cst_464, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1648 = stablehlo.add %1646, %1647 : tensor<256xf32>
    %1649 = stablehlo.divide %1645, %1648 : tensor<256xf32>
    %1650 = stablehlo.subtract %arg6, %1649 : tensor<256xf32>
    %1651 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1652 = stablehlo.multiply %1651, %1091 : tensor<4x64x256xf32>
    %1653 = stablehlo.sqrt %1344 : tensor<4x64x256xf32>
    %cst_465 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1654 = stablehlo.broadcast_in_dim %cst_465, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1655 = stablehlo.add %1653, %1654 : tensor<4x64x256xf32>
    %1656 = stablehlo.divide %1652, %1655 : tensor<4x64x256xf32>
    %1657 = stablehlo.subtract %arg7, %1656 : tensor<4x64x256xf32>
    %1658 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1659 = stablehlo.multiply %1658, %1096 : tensor<256x4x64xf32>
    %1660 = stablehlo.sqrt %1350 : tensor<256x4x64xf32>
    %cst_466 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1661 = stablehlo.broadcast_in_dim %cst_466, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1662 = stablehlo.add %1660, %1661 : tensor<256x4x64xf32>
    %1663 = stablehlo.divide %1659, %1662 : tensor<256x4x64xf32>
    %1664 = stablehlo.subtract %arg8, %1663 : tensor<256x4x64xf32>
    %1665 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1666 = stablehlo.multiply %1665, %1101 : tensor<256x1024xf32>
    %1667 = stablehlo.sqrt %1356 : tensor<256x1024xf32>
    %cst_467 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1668 = stablehlo.broadcast_in_dim %cst_467, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1669 = stablehlo.add %1667, %1668 : tensor<256x1024xf32>
    %1670 = stablehlo.divide %1666, %1669 : tensor<256x1024xf32>
    %1671 = stablehlo.subtract %arg9, %1670 : tensor<256x1024xf32>
    %1672 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1673 = stablehlo.multiply %1672, %1106 : tensor<1024xf32>
    %1674 = stablehlo.sqrt %1362 : tensor<1024xf32>
    %cst_468 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1675 = stablehlo.broadcast_in_dim %cst_468, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1676 = stablehlo.add %1674, %1675 : tensor<1024xf32>
    %1677 = stablehlo.divide %1673, %1676 : tensor<1024xf32>
    %1678 = stablehlo.subtract %arg10, %1677 : tensor<1024xf32>
    %1679 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1680 = stablehlo.multiply %1679, %1111 : tensor<256x4x64xf32>
    %1681 = stablehlo.sqrt %1368 : tensor<256x4x64xf32>
    %cst_469 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1682 = stablehlo.broadcast_in_dim %cst_469, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1683 = stablehlo.add %1681, %1682 : tensor<256x4x64xf32>
    %1684 = stablehlo.divide %1680, %1683 : tensor<256x4x64xf32>
    %1685 = stablehlo.subtract %arg11, %1684 : tensor<256x4x64xf32>
    %1686 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1687 = stablehlo.multiply %1686, %1116 : tensor<1024x256xf32>
    %1688 = stablehlo.sqrt %1374 : tensor<1024x256xf32>
    %cst_470 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1689 = stablehlo.broadcast_in_dim %cst_470, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1690 = stablehlo.add %1688, %1689 : tensor<1024x256xf32>
    %1691 = stablehlo.divide %1687, %1690 : tensor<1024x256xf32>
    %1692 = stablehlo.subtract %arg12, %1691 : tensor<1024x256xf32>
    %1693 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1694 = stablehlo.multiply %1693, %1121 : tensor<256x4x64xf32>
    %1695 = stablehlo.sqrt %1380 : tensor<256x4x64xf32>
    %cst_471 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1696 = stablehlo.broadcast_in_dim %cst_471, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1697 = stablehlo.add %1695, %1696 : tensor<256x4x64xf32>
    %1698 = stablehlo.divide %1694, %1697 : tensor<256x4x64xf32>
    %1699 = stablehlo.subtract %arg13, %1698 : tensor<256x4x64xf32>
    %1700 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1701 = stablehlo.multiply %1700, %1126 : tensor<256xf32>
    %1702 = stablehlo.sqrt %1386 : tensor<256xf32>
    %cst_472 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1703 = stablehlo.broadcast_in_dim %cst_472, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1704 = stablehlo.add %1702, %1703 : tensor<256xf32>
    %1705 = stablehlo.divide %1701, %1704 : tensor<256xf32>
    %1706 = stablehlo.subtract %arg14, %1705 : tensor<256xf32>
    %1707 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1708 = stablehlo.multiply %1707, %1131 : tensor<256xf32>
    %1709 = stablehlo.sqrt %1392 : tensor<256xf32>
    %cst_473 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1710 = stablehlo.broadcast_in_dim %cst_473, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1711 = stablehlo.add %1709, %1710 : tensor<256xf32>
    %1712 = stablehlo.divide %1708, %1711 : tensor<256xf32>
    %1713 = stablehlo.subtract %arg15, %1712 : tensor<256xf32>
    %1714 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1715 = stablehlo.multiply %1714, %1136 : tensor<256xf32>
    %1716 = stablehlo.sqrt %1398 : tensor<256xf32>
    %cst_474 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1717 = stablehlo.broadcast_in_dim %cst_474, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1718 = stablehlo.add %1716, %1717 : tensor<256xf32>
    %1719 = stablehlo.divide %1715, %1718 : tensor<256xf32>
    %1720 = stablehlo.subtract %arg16, %1719 : tensor<256xf32>
    %1721 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1722 = stablehlo.multiply %1721, %1141 : tensor<256xf32>
    %1723 = stablehlo.sqrt %1404 : tensor<256xf32>
    %cst_475 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1724 = stablehlo.broadcast_in_dim %cst_475, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1725 = stablehlo.add %1723, %1724 : tensor<256xf32>
    %1726 = stablehlo.divide %1722, %1725 : tensor<256xf32>
    %1727 = stablehlo.subtract %arg17, %1726 : tensor<256xf32>
    %1728 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1729 = stablehlo.multiply %1728, %1146 : tensor<4x64x256xf32>
    %1730 = stablehlo.sqrt %1410 : tensor<4x64x256xf32>
    %cst_476 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1731 = stablehlo.broadcast_in_dim %cst_476, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1732 = stablehlo.add %1730, %1731 : tensor<4x64x256xf32>
    %1733 = stablehlo.divide %1729, %1732 : tensor<4x64x256xf32>
    %1734 = stablehlo.subtract %arg18, %1733 : tensor<4x64x256xf32>
    %1735 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1736 = stablehlo.multiply %1735, %1151 : tensor<256x4x64xf32>
    %1737 = stablehlo.sqrt %1416 : tensor<256x4x64xf32>
    %cst_477 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1738 = stablehlo.broadcast_in_dim %cst_477, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1739 = stablehlo.add %1737, %1738 : tensor<256x4x64xf32>
    %1740 = stablehlo.divide %1736, %1739 : tensor<256x4x64xf32>
    %1741 = stablehlo.subtract %arg19, %1740 : tensor<256x4x64xf32>
    %1742 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1743 = stablehlo.multiply %1742, %1156 : tensor<256x1024xf32>
    %1744 = stablehlo.sqrt %1422 : tensor<256x1024xf32>
    %cst_478 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1745 = stablehlo.broadcast_in_dim %cst_478, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1746 = stablehlo.add %1744, %1745 : tensor<256x1024xf32>
    %1747 = stablehlo.divide %1743, %1746 : tensor<256x1024xf32>
    %1748 = stablehlo.subtract %arg20, %1747 : tensor<256x1024xf32>
    %1749 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1750 = stablehlo.multiply %1749, %1161 : tensor<1024xf32>
    %1751 = stablehlo.sqrt %1428 : tensor<1024xf32>
    %cst_479 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1752 = stablehlo.broadcast_in_dim %cst_479, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1753 = stablehlo.add %1751, %1752 : tensor<1024xf32>
    %1754 = stablehlo.divide %1750, %1753 : tensor<1024xf32>
    %1755 = stablehlo.subtract %arg21, %1754 : tensor<1024xf32>
    %1756 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1757 = stablehlo.multiply %1756, %1166 : tensor<256x4x64xf32>
    %1758 = stablehlo.sqrt %1434 : tensor<256x4x64xf32>
    %cst_480 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1759 = stablehlo.broadcast_in_dim %cst_480, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1760 = stablehlo.add %1758, %1759 : tensor<256x4x64xf32>
    %1761 = stablehlo.divide %1757, %1760 : tensor<256x4x64xf32>
    %1762 = stablehlo.subtract %arg22, %1761 : tensor<256x4x64xf32>
    %1763 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1764 = stablehlo.multiply %1763, %1171 : tensor<1024x256xf32>
    %1765 = stablehlo.sqrt %1440 : tensor<1024x256xf32>
    %cst_481 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1766 = stablehlo.broadcast_in_dim %cst_481, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1767 = stablehlo.add %1765, %1766 : tensor<1024x256xf32>
    %1768 = stablehlo.divide %1764, %1767 : tensor<1024x256xf32>
    %1769 = stablehlo.subtract %arg23, %1768 : tensor<1024x256xf32>
    %1770 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1771 = stablehlo.multiply %1770, %1176 : tensor<256x4x64xf32>
    %1772 = stablehlo.sqrt %1446 : tensor<256x4x64xf32>
    %cst_482 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1773 = stablehlo.broadcast_in_dim %cst_482, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1774 = stablehlo.add %1772, %1773 : tensor<256x4x64xf32>
    %1775 = stablehlo.divide %1771, %1774 : tensor<256x4x64xf32>
    %1776 = stablehlo.subtract %arg24, %1775 : tensor<256x4x64xf32>
    %1777 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1778 = stablehlo.multiply %1777, %1181 : tensor<256xf32>
    %1779 = stablehlo.sqrt %1452 : tensor<256xf32>
    %cst_483 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1780 = stablehlo.broadcast_in_dim %cst_483, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1781 = stablehlo.add %1779, %1780 : tensor<256xf32>
    %1782 = stablehlo.divide %1778, %1781 : tensor<256xf32>
    %1783 = stablehlo.subtract %arg25, %1782 : tensor<256xf32>
    %1784 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1785 = stablehlo.multiply %1784, %1186 : tensor<256xf32>
    %1786 = stablehlo.sqrt %1458 : tensor<256xf32>
    %cst_484 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1787 = stablehlo.broadcast_in_dim %cst_484, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1788 = stablehlo.add %1786, %1787 : tensor<256xf32>
    %1789 = stablehlo.divide %1785, %1788 : tensor<256xf32>
    %1790 = stablehlo.subtract %arg26, %1789 : tensor<256xf32>
    %1791 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1792 = stablehlo.multiply %1791, %1191 : tensor<256xf32>
    %1793 = stablehlo.sqrt %1464 : tensor<256xf32>
    %cst_485 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1794 = stablehlo.broadcast_in_dim %cst_485, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1795 = stablehlo.add %1793, %1794 : tensor<256xf32>
    %1796 = stablehlo.divide %1792, %1795 : tensor<256xf32>
    %1797 = stablehlo.subtract %arg27, %1796 : tensor<256xf32>
    %1798 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1799 = stablehlo.multiply %1798, %1196 : tensor<256xf32>
    %1800 = stablehlo.sqrt %1470 : tensor<256xf32>
    %cst_486 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1801 = stablehlo.broadcast_in_dim %cst_486, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1802 = stablehlo.add %1800, %1801 : tensor<256xf32>
    %1803 = stablehlo.divide %1799, %1802 : tensor<256xf32>
    %1804 = stablehlo.subtract %arg28, %1803 : tensor<256xf32>
    %1805 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1806 = stablehlo.multiply %1805, %1201 : tensor<4x64x256xf32>
    %1807 = stablehlo.sqrt %1476 : tensor<4x64x256xf32>
    %cst_487 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1808 = stablehlo.broadcast_in_dim %cst_487, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1809 = stablehlo.add %1807, %1808 : tensor<4x64x256xf32>
    %1810 = stablehlo.divide %1806, %1809 : tensor<4x64x256xf32>
    %1811 = stablehlo.subtract %arg29, %1810 : tensor<4x64x256xf32>
    %1812 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1813 = stablehlo.multiply %1812, %1206 : tensor<256x4x64xf32>
    %1814 = stablehlo.sqrt %1482 : tensor<256x4x64xf32>
    %cst_488 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1815 = stablehlo.broadcast_in_dim %cst_488, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1816 = stablehlo.add %1814, %1815 : tensor<256x4x64xf32>
    %1817 = stablehlo.divide %1813, %1816 : tensor<256x4x64xf32>
    %1818 = stablehlo.subtract %arg30, %1817 : tensor<256x4x64xf32>
    %1819 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1820 = stablehlo.multiply %1819, %1211 : tensor<256x1024xf32>
    %1821 = stablehlo.sqrt %1488 : tensor<256x1024xf32>
    %cst_489 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1822 = stablehlo.broadcast_in_dim %cst_489, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1823 = stablehlo.add %1821, %1822 : tensor<256x1024xf32>
    %1824 = stablehlo.divide %1820, %1823 : tensor<256x1024xf32>
    %1825 = stablehlo.subtract %arg31, %1824 : tensor<256x1024xf32>
    %1826 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1827 = stablehlo.multiply %1826, %1216 : tensor<1024xf32>
    %1828 = stablehlo.sqrt %1494 : tensor<1024xf32>
    %cst_490 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1829 = stablehlo.broadcast_in_dim %cst_490, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1830 = stablehlo.add %1828, %1829 : tensor<1024xf32>
    %1831 = stablehlo.divide %1827, %1830 : tensor<1024xf32>
    %1832 = stablehlo.subtract %arg32, %1831 : tensor<1024xf32>
    %1833 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1834 = stablehlo.multiply %1833, %1221 : tensor<256x4x64xf32>
    %1835 = stablehlo.sqrt %1500 : tensor<256x4x64xf32>
    %cst_491 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1836 = stablehlo.broadcast_in_dim %cst_491, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1837 = stablehlo.add %1835, %1836 : tensor<256x4x64xf32>
    %1838 = stablehlo.divide %1834, %1837 : tensor<256x4x64xf32>
    %1839 = stablehlo.subtract %arg33, %1838 : tensor<256x4x64xf32>
    %1840 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1841 = stablehlo.multiply %1840, %1226 : tensor<1024x256xf32>
    %1842 = stablehlo.sqrt %1506 : tensor<1024x256xf32>
    %cst_492 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1843 = stablehlo.broadcast_in_dim %cst_492, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %1844 = stablehlo.add %1842, %1843 : tensor<1024x256xf32>
    %1845 = stablehlo.divide %1841, %1844 : tensor<1024x256xf32>
    %1846 = stablehlo.subtract %arg34, %1845 : tensor<1024x256xf32>
    %1847 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1848 = stablehlo.multiply %1847, %1231 : tensor<256x4x64xf32>
    %1849 = stablehlo.sqrt %1512 : tensor<256x4x64xf32>
    %cst_493 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1850 = stablehlo.broadcast_in_dim %cst_493, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1851 = stablehlo.add %1849, %1850 : tensor<256x4x64xf32>
    %1852 = stablehlo.divide %1848, %1851 : tensor<256x4x64xf32>
    %1853 = stablehlo.subtract %arg35, %1852 : tensor<256x4x64xf32>
    %1854 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1855 = stablehlo.multiply %1854, %1236 : tensor<256xf32>
    %1856 = stablehlo.sqrt %1518 : tensor<256xf32>
    %cst_494 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1857 = stablehlo.broadcast_in_dim %cst_494, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1858 = stablehlo.add %1856, %1857 : tensor<256xf32>
    %1859 = stablehlo.divide %1855, %1858 : tensor<256xf32>
    %1860 = stablehlo.subtract %arg36, %1859 : tensor<256xf32>
    %1861 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1862 = stablehlo.multiply %1861, %1241 : tensor<256xf32>
    %1863 = stablehlo.sqrt %1524 : tensor<256xf32>
    %cst_495 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1864 = stablehlo.broadcast_in_dim %cst_495, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1865 = stablehlo.add %1863, %1864 : tensor<256xf32>
    %1866 = stablehlo.divide %1862, %1865 : tensor<256xf32>
    %1867 = stablehlo.subtract %arg37, %1866 : tensor<256xf32>
    %1868 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1869 = stablehlo.multiply %1868, %1246 : tensor<256xf32>
    %1870 = stablehlo.sqrt %1530 : tensor<256xf32>
    %cst_496 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1871 = stablehlo.broadcast_in_dim %cst_496, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1872 = stablehlo.add %1870, %1871 : tensor<256xf32>
    %1873 = stablehlo.divide %1869, %1872 : tensor<256xf32>
    %1874 = stablehlo.subtract %arg38, %1873 : tensor<256xf32>
    %1875 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1876 = stablehlo.multiply %1875, %1251 : tensor<256xf32>
    %1877 = stablehlo.sqrt %1536 : tensor<256xf32>
    %cst_497 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1878 = stablehlo.broadcast_in_dim %cst_497, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1879 = stablehlo.add %1877, %1878 : tensor<256xf32>
    %1880 = stablehlo.divide %1876, %1879 : tensor<256xf32>
    %1881 = stablehlo.subtract %arg39, %1880 : tensor<256xf32>
    %1882 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1883 = stablehlo.multiply %1882, %1256 : tensor<4x64x256xf32>
    %1884 = stablehlo.sqrt %1542 : tensor<4x64x256xf32>
    %cst_498 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1885 = stablehlo.broadcast_in_dim %cst_498, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %1886 = stablehlo.add %1884, %1885 : tensor<4x64x256xf32>
    %1887 = stablehlo.divide %1883, %1886 : tensor<4x64x256xf32>
    %1888 = stablehlo.subtract %arg40, %1887 : tensor<4x64x256xf32>
    %1889 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1890 = stablehlo.multiply %1889, %1261 : tensor<256x4x64xf32>
    %1891 = stablehlo.sqrt %1548 : tensor<256x4x64xf32>
    %cst_499 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1892 = stablehlo.broadcast_in_dim %cst_499, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1893 = stablehlo.add %1891, %1892 : tensor<256x4x64xf32>
    %1894 = stablehlo.divide %1890, %1893 : tensor<256x4x64xf32>
    %1895 = stablehlo.subtract %arg41, %1894 : tensor<256x4x64xf32>
    %1896 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1897 = stablehlo.multiply %1896, %1266 : tensor<256x1024xf32>
    %1898 = stablehlo.sqrt %1554 : tensor<256x1024xf32>
    %cst_500 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1899 = stablehlo.broadcast_in_dim %cst_500, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %1900 = stablehlo.add %1898, %1899 : tensor<256x1024xf32>
    %1901 = stablehlo.divide %1897, %1900 : tensor<256x1024xf32>
    %1902 = stablehlo.subtract %arg42, %1901 : tensor<256x1024xf32>
    %1903 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1904 = stablehlo.multiply %1903, %1271 : tensor<1024xf32>
    %1905 = stablehlo.sqrt %1560 : tensor<1024xf32>
    %cst_501 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1906 = stablehlo.broadcast_in_dim %cst_501, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %1907 = stablehlo.add %1905, %1906 : tensor<1024xf32>
    %1908 = stablehlo.divide %1904, %1907 : tensor<1024xf32>
    %1909 = stablehlo.subtract %arg43, %1908 : tensor<1024xf32>
    %1910 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1911 = stablehlo.multiply %1910, %1276 : tensor<256x4x64xf32>
    %1912 = stablehlo.sqrt %1566 : tensor<256x4x64xf32>
    %cst_502 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1913 = stablehlo.broadcast_in_dim %cst_502, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %1914 = stablehlo.add %1912, %1913 : tensor<256x4x64xf32>
    %1915 = stablehlo.divide %1911, %1914 : tensor<256x4x64xf32>
    %1916 = stablehlo.subtract %arg44, %1915 : tensor<256x4x64xf32>
    %1917 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1918 = stablehlo.multiply %1917, %1281 : tensor<256xf32>
    %1919 = stablehlo.sqrt %1572 : tensor<256xf32>
    %cst_503 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1920 = stablehlo.broadcast_in_dim %cst_503, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1921 = stablehlo.add %1919, %1920 : tensor<256xf32>
    %1922 = stablehlo.divide %1918, %1921 : tensor<256xf32>
    %1923 = stablehlo.subtract %arg45, %1922 : tensor<256xf32>
    %1924 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1925 = stablehlo.multiply %1924, %1286 : tensor<256xf32>
    %1926 = stablehlo.sqrt %1578 : tensor<256xf32>
    %cst_504 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1927 = stablehlo.broadcast_in_dim %cst_504, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %1928 = stablehlo.add %1926, %1927 : tensor<256xf32>
    %1929 = stablehlo.divide %1925, %1928 : tensor<256xf32>
    %1930 = stablehlo.subtract %arg46, %1929 : tensor<256xf32>
    %1931 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<256x65xf32>
    %1932 = stablehlo.multiply %1931, %1291 : tensor<256x65xf32>
    %1933 = stablehlo.sqrt %1584 : tensor<256x65xf32>
    %cst_505 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1934 = stablehlo.broadcast_in_dim %cst_505, dims = [] : (tensor<f32>) -> tensor<256x65xf32>
    %1935 = stablehlo.add %1933, %1934 : tensor<256x65xf32>
    %1936 = stablehlo.divide %1932, %1935 : tensor<256x65xf32>
    %1937 = stablehlo.subtract %arg47, %1936 : tensor<256x65xf32>
    %1938 = stablehlo.broadcast_in_dim %1601, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %1939 = stablehlo.multiply %1938, %1296 : tensor<128x256xf32>
    %1940 = stablehlo.sqrt %1590 : tensor<128x256xf32>
    %cst_506 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %1941 = stablehlo.broadcast_in_dim %cst_506, dims = [] : (tensor<f32>) -> tensor<128x256xf32>
    %1942 = stablehlo.add %1940, %1941 : tensor<128x256xf32>
    %1943 = stablehlo.divide %1939, %1942 : tensor<128x256xf32>
    %1944 = stablehlo.subtract %arg48, %1943 : tensor<128x256xf32>
    return %507, %1608, %1615, %1622, %1629, %1636, %1643, %1650, %1657, %1664, %1671, %1678, %1685, %1692, %1699, %1706, %1713, %1720, %1727, %1734, %1741, %1748, %1755, %1762, %1769, %1776, %1783, %1790, %1797, %1804, %1811, %1818, %1825, %1832, %1839, %1846, %1853, %1860, %1867, %1874, %1881, %1888, %1895, %1902, %1909, %1916, %1923, %1930, %1937, %1944, %1051, %1056, %1061, %1066, %1071, %1076, %1081, %1086, %1091, %1096, %1101, %1106, %1111, %1116, %1121, %1126, %1131, %1136, %1141, %1146, %1151, %1156, %1161, %1166, %1171, %1176, %1181, %1186, %1191, %1196, %1201, %1206, %1211, %1216, %1221, %1226, %1231, %1236, %1241, %1246, %1251, %1256, %1261, %1266, %1271, %1276, %1281, %1286, %1291, %1296, %1302, %1308, %1314, %1320, %1326, %1332, %1338, %1344, %1350, %1356, %1362, %1368, %1374, %1380, %1386, %1392, %1398, %1404, %1410, %1416, %1422, %1428, %1434, %1440, %1446, %1452, %1458, %1464, %1470, %1476, %1482, %1488, %1494, %1500, %1506, %1512, %1518, %1524, %1530, %1536, %1542, %1548, %1554, %1560, %1566, %1572, %1578, %1584, %1590 : tensor<f32>, tensor<65x256xf32>, tensor<1024x256xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<4x64x256xf32>, tensor<256x4x64xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<256x4x64xf32>, tensor<1024x256xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<4x64x256xf32>, tensor<256x4x64xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<256x4x64xf32>, tensor<1024x256xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<4x64x256xf32>, tensor<256x4x64xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<256x4x64xf32>, tensor<1024x256xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<4x64x256xf32>, tensor<256x4x64xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256x65xf32>, tensor<128x256xf32>, tensor<i32>, tensor<65x256xf32>, tensor<1024x256xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<4x64x256xf32>, tensor<256x4x64xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<256x4x64xf32>, tensor<1024x256xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<4x64x256xf32>, tensor<256x4x64xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<256x4x64xf32>, tensor<1024x256xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<4x64x256xf32>, tensor<256x4x64xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<256x4x64xf32>, tensor<1024x256xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<4x64x256xf32>, tensor<256x4x64xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256x65xf32>, tensor<128x256xf32>, tensor<65x256xf32>, tensor<1024x256xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<4x64x256xf32>, tensor<256x4x64xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<256x4x64xf32>, tensor<1024x256xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<4x64x256xf32>, tensor<256x4x64xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<256x4x64xf32>, tensor<1024x256xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<4x64x256xf32>, tensor<256x4x64xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<256x4x64xf32>, tensor<1024x256xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<4x64x256xf32>, tensor<256x4x64xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256x65xf32>, tensor<128x256xf32>
  }
  func.func private @_take(%arg0: tensor<65x256xf32>, %arg1: tensor<8x128xi32>) -> (tensor<8x128x256xf32>, tensor<8x128x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x128xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<8x128xi32>, tensor<8x128xi32>) -> tensor<8x128xi1>
    %c_0 = stablehlo.constant dense<65> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x128xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<8x128xi32>
    %4 = call @_where(%1, %3, %arg1) : (tensor<8x128xi1>, tensor<8x128xi32>, tensor<8x128xi32>) -> tensor<8x128xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<8x128xi32>) -> tensor<8x128x1xi32>
    %c_1 = stablehlo.constant dense<64> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8x128x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<8x128x1xi32>, tensor<8x128x1xi32>) -> tensor<8x128x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<8x128x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<8x128x1xi32>, tensor<8x128x1xi32>) -> tensor<8x128x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<8x128x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<8x128x1xi1>, tensor<i1>) -> tensor<8x128xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 256>}> : (tensor<65x256xf32>, tensor<8x128x1xi32>) -> tensor<8x128x256xf32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<8x128xi1>) -> tensor<8x128x256xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x128x256xf32>
    %16 = stablehlo.select %14, %13, %15 : tensor<8x128x256xi1>, tensor<8x128x256xf32>
    return %16, %5 : tensor<8x128x256xf32>, tensor<8x128x1xi32>
  }
  func.func private @_where(%arg0: tensor<8x128xi1>, %arg1: tensor<8x128xi32>, %arg2: tensor<8x128xi32>) -> tensor<8x128xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<8x128xi1>, tensor<8x128xi32>
    return %0 : tensor<8x128xi32>
  }
  func.func private @tril(%arg0: tensor<128x128xi1>) -> tensor<128x128xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<128x128xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<128x128xi32>
    %2 = stablehlo.add %0, %1 : tensor<128x128xi32>
    %3 = stablehlo.iota dim = 1 : tensor<128x128xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<128x128xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<128x128xi1>, tensor<128x128xi1>
    return %6 : tensor<128x128xi1>
  }
  func.func private @_where_0(%arg0: tensor<128x128xi1>, %arg1: tensor<8x4x128x128xf32>, %arg2: tensor<f32>) -> (tensor<8x4x128x128xf32>, tensor<8x4x128x128xi1>, tensor<8x4x128x128xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<128x128xi1>) -> tensor<8x4x128x128xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4x128x128xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x4x128x128xi1>, tensor<8x4x128x128xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x128x128xf32>
    return %3, %1, %4 : tensor<8x4x128x128xf32>, tensor<8x4x128x128xi1>, tensor<8x4x128x128xf32>
  }
  func.func private @log_softmax(%arg0: tensor<8x128x65xf32>) -> (tensor<8x128x65xf32>, tensor<8x128x65xf32>, tensor<8x128x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<8x128x65xf32>, tensor<f32>) -> tensor<8x128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x128xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<8x128xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x65xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<8x128x65xf32>
    %6 = stablehlo.exponential %5 : tensor<8x128x65xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<8x128x65xf32>, tensor<f32>) -> tensor<8x128xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %9 = stablehlo.log %8 : tensor<8x128x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<8x128x1xf32>) -> tensor<8x128x65xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<8x128x65xf32>
    return %11, %6, %8 : tensor<8x128x65xf32>, tensor<8x128x65xf32>, tensor<8x128x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<8x128x65xf32>, %arg1: tensor<8x128x1xi32>) -> (tensor<8x128x1xf32>, tensor<8x128x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x128x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<8x128x1xi32>, tensor<8x128x1xi32>) -> tensor<8x128x1xi1>
    %c_0 = stablehlo.constant dense<65> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x128x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<8x128x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<8x128x1xi1>, tensor<8x128x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<8x128x1xi32>) -> tensor<8x128x1x1xi32>
    %c_1 = stablehlo.constant dense<64> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8x128x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<8x128x1x1xi32>, tensor<8x128x1x1xi32>) -> tensor<8x128x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<8x128x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<8x128x1x1xi32>, tensor<8x128x1x1xi32>) -> tensor<8x128x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<8x128x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<8x128x1x1xi1>, tensor<i1>) -> tensor<8x128x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<8x128x65xf32>, tensor<8x128x1x1xi32>) -> tensor<8x128x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x128x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<8x128x1xi1>, tensor<8x128x1xf32>
    return %15, %5 : tensor<8x128x1xf32>, tensor<8x128x1x1xi32>
  }
  func.func private @take_along_axis_1(%arg0: tensor<8x128x1x1xi32>, %arg1: tensor<8x128x1xf32>) -> tensor<8x128x65xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x128x65xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<8x128x65xf32>, tensor<8x128x1x1xi32>, tensor<8x128x1xf32>) -> tensor<8x128x65xf32>
    return %1 : tensor<8x128x65xf32>
  }
  func.func private @log_softmax_2(%arg0: tensor<8x128x65xf32>, %arg1: tensor<8x128x1xf32>, %arg2: tensor<8x128x65xf32>) -> tensor<8x128x65xf32> {
    %0 = stablehlo.negate %arg2 : tensor<8x128x65xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x128x65xf32>, tensor<f32>) -> tensor<8x128xf32>
    %2 = stablehlo.reshape %1 : (tensor<8x128xf32>) -> tensor<8x128x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<8x128x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<8x128x1xf32>, tensor<f32>) -> tensor<8x128xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x65xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<8x128x65xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<8x128x65xf32>
    return %7 : tensor<8x128x65xf32>
  }
  func.func private @_where_3(%arg0: tensor<8x4x128x128xi1>, %arg1: tensor<8x4x128x128xf32>, %arg2: tensor<8x4x128x128xf32>) -> tensor<8x4x128x128xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x128x128xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<8x4x128x128xi1>, tensor<8x4x128x128xf32>
    return %1 : tensor<8x4x128x128xf32>
  }
  func.func private @_take_4(%arg0: tensor<8x128x1xi32>, %arg1: tensor<8x128x256xf32>) -> tensor<65x256xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<65x256xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<65x256xf32>, tensor<8x128x1xi32>, tensor<8x128x256xf32>) -> tensor<65x256xf32>
    return %1 : tensor<65x256xf32>
  }
}
