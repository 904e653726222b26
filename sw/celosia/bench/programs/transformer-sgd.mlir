module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1024x256xf32>, %arg1: tensor<256x256xf32>, %arg2: tensor<256x4x64xf32>, %arg3: tensor<256xf32>, %arg4: tensor<256xf32>, %arg5: tensor<256xf32>, %arg6: tensor<256xf32>, %arg7: tensor<4x64x256xf32>, %arg8: tensor<64x256xf32>, %arg9: tensor<256x4x64xf32>, %arg10: tensor<256x1024xf32>, %arg11: tensor<1024xf32>, %arg12: tensor<256x4x64xf32>, %arg13: tensor<1024x256xf32>, %arg14: tensor<256x256xf32>, %arg15: tensor<256x4x64xf32>, %arg16: tensor<256xf32>, %arg17: tensor<256xf32>, %arg18: tensor<256xf32>, %arg19: tensor<256xf32>, %arg20: tensor<4x64x256xf32>, %arg21: tensor<64x256xf32>, %arg22: tensor<256x4x64xf32>, %arg23: tensor<256x1024xf32>, %arg24: tensor<1024xf32>, %arg25: tensor<256x4x64xf32>, %arg26: tensor<8x64xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<1024x256xf32> {jax.result_info = "result[1]['down']"}, tensor<256x256xf32> {jax.result_info = "result[1]['embedding']"}, tensor<256x4x64xf32> {jax.result_info = "result[1]['k']"}, tensor<256xf32> {jax.result_info = "result[1]['norm1'][0]"}, tensor<256xf32> {jax.result_info = "result[1]['norm1'][1]"}, tensor<256xf32> {jax.result_info = "result[1]['norm2'][0]"}, tensor<256xf32> {jax.result_info = "result[1]['norm2'][1]"}, tensor<4x64x256xf32> {jax.result_info = "result[1]['o']"}, tensor<64x256xf32> {jax.result_info = "result[1]['position']"}, tensor<256x4x64xf32> {jax.result_info = "result[1]['q']"}, tensor<256x1024xf32> {jax.result_info = "result[1]['up']"}, tensor<1024xf32> {jax.result_info = "result[1]['up_bias']"}, tensor<256x4x64xf32> {jax.result_info = "result[1]['v']"}, tensor<1024x256xf32> {jax.result_info = "result[2]['down']"}, tensor<256x256xf32> {jax.result_info = "result[2]['embedding']"}, tensor<256x4x64xf32> {jax.result_info = "result[2]['k']"}, tensor<256xf32> {jax.result_info = "result[2]['norm1'][0]"}, tensor<256xf32> {jax.result_info = "result[2]['norm1'][1]"}, tensor<256xf32> {jax.result_info = "result[2]['norm2'][0]"}, tensor<256xf32> {jax.result_info = "result[2]['norm2'][1]"}, tensor<4x64x256xf32> {jax.result_info = "result[2]['o']"}, tensor<64x256xf32> {jax.result_info = "result[2]['position']"}, tensor<256x4x64xf32> {jax.result_info = "result[2]['q']"}, tensor<256x1024xf32> {jax.result_info = "result[2]['up']"}, tensor<1024xf32> {jax.result_info = "result[2]['up_bias']"}, tensor<256x4x64xf32> {jax.result_info = "result[2]['v']"}) {
    %0:2 = call @_take(%arg1, %arg26) : (tensor<256x256xf32>, tensor<8x64xi32>) -> (tensor<8x64x256xf32>, tensor<8x64x1xi32>)
    %1 = stablehlo.broadcast_in_dim %arg8, dims = [1, 2] : (tensor<64x256xf32>) -> tensor<1x64x256xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2] : (tensor<1x64x256xf32>) -> tensor<8x64x256xf32>
    %3 = stablehlo.add %0#0, %2 : tensor<8x64x256xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x64x256xf32>, tensor<f32>) -> tensor<8x64xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<8x64xf32>) -> tensor<8x64x1xf32>
    %cst_0 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x64x1xf32>
    %7 = stablehlo.divide %5, %6 : tensor<8x64x1xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<8x64x1xf32>) -> tensor<8x64x256xf32>
    %9 = stablehlo.subtract %3, %8 : tensor<8x64x256xf32>
    %10 = stablehlo.multiply %9, %9 : tensor<8x64x256xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.reduce(%10 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<8x64x256xf32>, tensor<f32>) -> tensor<8x64xf32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1] : (tensor<8x64xf32>) -> tensor<8x64x1xf32>
    %cst_2 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<8x64x1xf32>
    %14 = stablehlo.divide %12, %13 : tensor<8x64x1xf32>
    %cst_3 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<8x64x1xf32>
    %16 = stablehlo.add %14, %15 : tensor<8x64x1xf32>
    %17 = stablehlo.rsqrt %16 : tensor<8x64x1xf32>
    %18 = stablehlo.divide %17, %16 : tensor<8x64x1xf32>
    %cst_4 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<8x64x1xf32>
    %20 = stablehlo.multiply %19, %18 : tensor<8x64x1xf32>
    %21 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<8x64x1xf32>) -> tensor<8x64x256xf32>
    %22 = stablehlo.multiply %9, %21 : tensor<8x64x256xf32>
    %23 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x64x256xf32>
    %25 = stablehlo.multiply %22, %24 : tensor<8x64x256xf32>
    %26 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x64x256xf32>
    %28 = stablehlo.add %25, %27 : tensor<8x64x256xf32>
    %29 = stablehlo.dot_general %arg9, %28, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x4x64xf32>, tensor<8x64x256xf32>) -> tensor<4x64x8x64xf32>
    %30 = stablehlo.transpose %29, dims = [2, 0, 3, 1] : (tensor<4x64x8x64xf32>) -> tensor<8x4x64x64xf32>
    %31 = stablehlo.dot_general %arg2, %28, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x4x64xf32>, tensor<8x64x256xf32>) -> tensor<4x64x8x64xf32>
    %32 = stablehlo.transpose %31, dims = [2, 0, 3, 1] : (tensor<4x64x8x64xf32>) -> tensor<8x4x64x64xf32>
    %33 = stablehlo.dot_general %arg12, %28, contracting_dims = [0] x [2], precision = [DEFAULT, DEFAULT] : (tensor<256x4x64xf32>, tensor<8x64x256xf32>) -> tensor<4x64x8x64xf32>
    %34 = stablehlo.transpose %33, dims = [2, 0, 3, 1] : (tensor<4x64x8x64xf32>) -> tensor<8x4x64x64xf32>
    %35 = stablehlo.dot_general %30, %32, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x64x64xf32>, tensor<8x4x64x64xf32>) -> tensor<8x4x64x64xf32>
    %cst_5 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %36 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<8x4x64x64xf32>
    %37 = stablehlo.divide %35, %36 : tensor<8x4x64x64xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %38 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<64x64xi1>
    %39 = call @tril(%38) : (tensor<64x64xi1>) -> tensor<64x64xi1>
    %cst_6 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %40:3 = call @_where_0(%39, %37, %cst_6) : (tensor<64x64xi1>, tensor<8x4x64x64xf32>, tensor<f32>) -> (tensor<8x4x64x64xf32>, tensor<8x4x64x64xi1>, tensor<8x4x64x64xf32>)
    %cst_7 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %41 = stablehlo.reduce(%40#0 init: %cst_7) applies stablehlo.maximum across dimensions = [3] : (tensor<8x4x64x64xf32>, tensor<f32>) -> tensor<8x4x64xf32>
    %42 = stablehlo.reshape %41 : (tensor<8x4x64xf32>) -> tensor<8x4x64x1xf32>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0, 1, 2, 3] : (tensor<8x4x64x1xf32>) -> tensor<8x4x64x64xf32>
    %44 = stablehlo.compare EQ, %40#0, %43, FLOAT : (tensor<8x4x64x64xf32>, tensor<8x4x64x64xf32>) -> tensor<8x4x64x64xi1>
    %45 = stablehlo.convert %44 : (tensor<8x4x64x64xi1>) -> tensor<8x4x64x64xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %46 = stablehlo.reduce(%45 init: %cst_8) applies stablehlo.add across dimensions = [3] : (tensor<8x4x64x64xf32>, tensor<f32>) -> tensor<8x4x64xf32>
    %cst_9 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<8x4x64xf32>
    %48 = stablehlo.maximum %47, %41 : tensor<8x4x64xf32>
    %49 = stablehlo.compare EQ, %41, %48, FLOAT : (tensor<8x4x64xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xi1>
    %cst_10 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<8x4x64xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<8x4x64xf32>
    %52 = stablehlo.select %49, %50, %51 : tensor<8x4x64xi1>, tensor<8x4x64xf32>
    %cst_12 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<8x4x64xf32>
    %54 = stablehlo.compare EQ, %53, %48, FLOAT : (tensor<8x4x64xf32>, tensor<8x4x64xf32>) -> tensor<8x4x64xi1>
    %cst_13 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<8x4x64xf32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<8x4x64xf32>
    %57 = stablehlo.select %54, %55, %56 : tensor<8x4x64xi1>, tensor<8x4x64xf32>
    %58 = stablehlo.divide %52, %57 : tensor<8x4x64xf32>
    %59 = stablehlo.broadcast_in_dim %48, dims = [0, 1, 2] : (tensor<8x4x64xf32>) -> tensor<8x4x64x1xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2, 3] : (tensor<8x4x64x1xf32>) -> tensor<8x4x64x64xf32>
    %61 = stablehlo.subtract %40#0, %60 : tensor<8x4x64x64xf32>
    %62 = stablehlo.exponential %61 : tensor<8x4x64x64xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.reduce(%62 init: %cst_15) applies stablehlo.add across dimensions = [3] : (tensor<8x4x64x64xf32>, tensor<f32>) -> tensor<8x4x64xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [0, 1, 2] : (tensor<8x4x64xf32>) -> tensor<8x4x64x1xf32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2, 3] : (tensor<8x4x64x1xf32>) -> tensor<8x4x64x64xf32>
    %66 = stablehlo.divide %62, %65 : tensor<8x4x64x64xf32>
    %67 = stablehlo.multiply %64, %64 : tensor<8x4x64x1xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<8x4x64x1xf32>
    %69 = stablehlo.divide %68, %67 : tensor<8x4x64x1xf32>
    %70 = stablehlo.dot_general %66, %34, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x64x64xf32>, tensor<8x4x64x64xf32>) -> tensor<8x4x64x64xf32>
    %71 = stablehlo.dot_general %70, %arg7, contracting_dims = [3, 1] x [1, 0], precision = [DEFAULT, DEFAULT] : (tensor<8x4x64x64xf32>, tensor<4x64x256xf32>) -> tensor<8x64x256xf32>
    %72 = stablehlo.add %3, %71 : tensor<8x64x256xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %73 = stablehlo.reduce(%72 init: %cst_17) applies stablehlo.add across dimensions = [2] : (tensor<8x64x256xf32>, tensor<f32>) -> tensor<8x64xf32>
    %74 = stablehlo.broadcast_in_dim %73, dims = [0, 1] : (tensor<8x64xf32>) -> tensor<8x64x1xf32>
    %cst_18 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<8x64x1xf32>
    %76 = stablehlo.divide %74, %75 : tensor<8x64x1xf32>
    %77 = stablehlo.broadcast_in_dim %76, dims = [0, 1, 2] : (tensor<8x64x1xf32>) -> tensor<8x64x256xf32>
    %78 = stablehlo.subtract %72, %77 : tensor<8x64x256xf32>
    %79 = stablehlo.multiply %78, %78 : tensor<8x64x256xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %80 = stablehlo.reduce(%79 init: %cst_19) applies stablehlo.add across dimensions = [2] : (tensor<8x64x256xf32>, tensor<f32>) -> tensor<8x64xf32>
    %81 = stablehlo.broadcast_in_dim %80, dims = [0, 1] : (tensor<8x64xf32>) -> tensor<8x64x1xf32>
    %cst_20 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %82 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<8x64x1xf32>
    %83 = stablehlo.divide %81, %82 : tensor<8x64x1xf32>
    %cst_21 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %84 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<8x64x1xf32>
    %85 = stablehlo.add %83, %84 : tensor<8x64x1xf32>
    %86 = stablehlo.rsqrt %85 : tensor<8x64x1xf32>
    %87 = stablehlo.divide %86, %85 : tensor<8x64x1xf32>
    %cst_22 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %88 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<8x64x1xf32>
    %89 = stablehlo.multiply %88, %87 : tensor<8x64x1xf32>
    %90 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<8x64x1xf32>) -> tensor<8x64x256xf32>
    %91 = stablehlo.multiply %78, %90 : tensor<8x64x256xf32>
    %92 = stablehlo.broadcast_in_dim %arg5, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %93 = stablehlo.broadcast_in_dim %92, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x64x256xf32>
    %94 = stablehlo.multiply %91, %93 : tensor<8x64x256xf32>
    %95 = stablehlo.broadcast_in_dim %arg6, dims = [2] : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %96 = stablehlo.broadcast_in_dim %95, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x64x256xf32>
    %97 = stablehlo.add %94, %96 : tensor<8x64x256xf32>
    %98 = stablehlo.dot_general %97, %arg10, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x64x256xf32>, tensor<256x1024xf32>) -> tensor<8x64x1024xf32>
    %99 = stablehlo.broadcast_in_dim %arg11, dims = [2] : (tensor<1024xf32>) -> tensor<1x1x1024xf32>
    %100 = stablehlo.broadcast_in_dim %99, dims = [0, 1, 2] : (tensor<1x1x1024xf32>) -> tensor<8x64x1024xf32>
    %101 = stablehlo.add %98, %100 : tensor<8x64x1024xf32>
    %102 = stablehlo.multiply %101, %101 : tensor<8x64x1024xf32>
    %103 = stablehlo.multiply %102, %101 : tensor<8x64x1024xf32>
    %104 = stablehlo.multiply %101, %101 : tensor<8x64x1024xf32>
    %cst_23 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %105 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<8x64x1024xf32>
    %106 = stablehlo.multiply %105, %104 : tensor<8x64x1024xf32>
    %cst_24 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<8x64x1024xf32>
    %108 = stablehlo.multiply %107, %103 : tensor<8x64x1024xf32>
    %109 = stablehlo.add %101, %108 : tensor<8x64x1024xf32>
    %cst_25 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %110 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<8x64x1024xf32>
    %111 = stablehlo.multiply %110, %109 : tensor<8x64x1024xf32>
    %112 = stablehlo.tanh %111 : tensor<8x64x1024xf32>
    %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<8x64x1024xf32>
    %114 = stablehlo.subtract %113, %112 : tensor<8x64x1024xf32>
    %cst_27 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %115 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<8x64x1024xf32>
    %116 = stablehlo.add %115, %112 : tensor<8x64x1024xf32>
    %cst_28 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %117 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<8x64x1024xf32>
    %118 = stablehlo.multiply %117, %116 : tensor<8x64x1024xf32>
    %119 = stablehlo.multiply %101, %118 : tensor<8x64x1024xf32>
    %120 = stablehlo.dot_general %119, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x64x1024xf32>, tensor<1024x256xf32>) -> tensor<8x64x256xf32>
    %121 = stablehlo.add %72, %120 : tensor<8x64x256xf32>
    %122 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %123 = stablehlo.dot_general %121, %122, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<8x64x256xf32>, tensor<256x256xf32>) -> tensor<8x64x256xf32>
    %124 = stablehlo.slice %123 [0:8, 0:63, 0:256] : (tensor<8x64x256xf32>) -> tensor<8x63x256xf32>
    %125 = stablehlo.slice %arg26 [0:8, 1:64] : (tensor<8x64xi32>) -> tensor<8x63xi32>
    %126:3 = call @log_softmax(%124) : (tensor<8x63x256xf32>) -> (tensor<8x63x256xf32>, tensor<8x63x256xf32>, tensor<8x63x1xf32>)
    %127 = stablehlo.broadcast_in_dim %125, dims = [0, 1] : (tensor<8x63xi32>) -> tensor<8x63x1xi32>
    %128:2 = call @take_along_axis(%126#0, %127) : (tensor<8x63x256xf32>, tensor<8x63x1xi32>) -> (tensor<8x63x1xf32>, tensor<8x63x1x1xi32>)
    %cst_29 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %129 = stablehlo.reduce(%128#0 init: %cst_29) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x63x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_30 = stablehlo.constant dense<5.040000e+02> : tensor<f32>
    %130 = stablehlo.divide %129, %cst_30 : tensor<f32>
    %131 = stablehlo.negate %130 : tensor<f32>
    %cst_31 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %132 = stablehlo.negate %cst_31 : tensor<f32>
    %cst_32 = stablehlo.constant dense<5.040000e+02> : tensor<f32>
    %133 = stablehlo.divide %132, %cst_32 : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %133, dims = [] : (tensor<f32>) -> tensor<8x63x1xf32>
    %135 = call @take_along_axis_1(%128#1, %134) : (tensor<8x63x1x1xi32>, tensor<8x63x1xf32>) -> tensor<8x63x256xf32>
    %136 = call @log_softmax_2(%126#1, %126#2, %135) : (tensor<8x63x256xf32>, tensor<8x63x1xf32>, tensor<8x63x256xf32>) -> tensor<8x63x256xf32>
    %cst_33 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %137 = stablehlo.pad %136, %cst_33, low = [0, 0, 0], high = [0, 1, 0], interior = [0, 0, 0] : (tensor<8x63x256xf32>, tensor<f32>) -> tensor<8x64x256xf32>
    %138 = stablehlo.dot_general %137, %121, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x64x256xf32>, tensor<8x64x256xf32>) -> tensor<256x256xf32>
    %139 = stablehlo.transpose %138, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %140 = stablehlo.dot_general %137, %122, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x64x256xf32>, tensor<256x256xf32>) -> tensor<8x64x256xf32>
    %141 = stablehlo.transpose %139, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %142 = stablehlo.dot_general %140, %119, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x64x256xf32>, tensor<8x64x1024xf32>) -> tensor<256x1024xf32>
    %143 = stablehlo.transpose %142, dims = [1, 0] : (tensor<256x1024xf32>) -> tensor<1024x256xf32>
    %144 = stablehlo.dot_general %140, %arg0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x64x256xf32>, tensor<1024x256xf32>) -> tensor<8x64x1024xf32>
    %145 = stablehlo.multiply %101, %144 : tensor<8x64x1024xf32>
    %146 = stablehlo.multiply %144, %118 : tensor<8x64x1024xf32>
    %cst_34 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %147 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<8x64x1024xf32>
    %148 = stablehlo.multiply %147, %145 : tensor<8x64x1024xf32>
    %149 = stablehlo.multiply %148, %114 : tensor<8x64x1024xf32>
    %150 = stablehlo.multiply %149, %112 : tensor<8x64x1024xf32>
    %151 = stablehlo.add %149, %150 : tensor<8x64x1024xf32>
    %cst_35 = stablehlo.constant dense<0.797884583> : tensor<f32>
    %152 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<8x64x1024xf32>
    %153 = stablehlo.multiply %152, %151 : tensor<8x64x1024xf32>
    %154 = stablehlo.add %146, %153 : tensor<8x64x1024xf32>
    %cst_36 = stablehlo.constant dense<4.471500e-02> : tensor<f32>
    %155 = stablehlo.broadcast_in_dim %cst_36, dims = [] : (tensor<f32>) -> tensor<8x64x1024xf32>
    %156 = stablehlo.multiply %155, %153 : tensor<8x64x1024xf32>
    %157 = stablehlo.multiply %156, %106 : tensor<8x64x1024xf32>
    %158 = stablehlo.add %154, %157 : tensor<8x64x1024xf32>
    %cst_37 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %159 = stablehlo.reduce(%158 init: %cst_37) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x64x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %160 = stablehlo.reshape %159 : (tensor<1024xf32>) -> tensor<1x1x1024xf32>
    %cst_38 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %161 = stablehlo.reduce(%160 init: %cst_38) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %162 = stablehlo.dot_general %158, %97, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<8x64x1024xf32>, tensor<8x64x256xf32>) -> tensor<1024x256xf32>
    %163 = stablehlo.transpose %162, dims = [1, 0] : (tensor<1024x256xf32>) -> tensor<256x1024xf32>
    %164 = stablehlo.dot_general %158, %arg10, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<8x64x1024xf32>, tensor<256x1024xf32>) -> tensor<8x64x256xf32>
    %cst_39 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %165 = stablehlo.reduce(%164 init: %cst_39) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %166 = stablehlo.reshape %165 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %167 = stablehlo.reduce(%166 init: %cst_40) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %168 = stablehlo.multiply %91, %164 : tensor<8x64x256xf32>
    %cst_41 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %169 = stablehlo.reduce(%168 init: %cst_41) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %170 = stablehlo.reshape %169 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %171 = stablehlo.broadcast_in_dim %92, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x64x256xf32>
    %172 = stablehlo.multiply %164, %171 : tensor<8x64x256xf32>
    %cst_42 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %173 = stablehlo.reduce(%170 init: %cst_42) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %174 = stablehlo.multiply %78, %172 : tensor<8x64x256xf32>
    %cst_43 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %175 = stablehlo.reduce(%174 init: %cst_43) applies stablehlo.add across dimensions = [2] : (tensor<8x64x256xf32>, tensor<f32>) -> tensor<8x64xf32>
    %176 = stablehlo.reshape %175 : (tensor<8x64xf32>) -> tensor<8x64x1xf32>
    %177 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<8x64x1xf32>) -> tensor<8x64x256xf32>
    %178 = stablehlo.multiply %172, %177 : tensor<8x64x256xf32>
    %179 = stablehlo.multiply %176, %89 : tensor<8x64x1xf32>
    %cst_44 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %180 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<8x64x1xf32>
    %181 = stablehlo.divide %179, %180 : tensor<8x64x1xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %182 = stablehlo.reduce(%181 init: %cst_45) applies stablehlo.add across dimensions = [2] : (tensor<8x64x1xf32>, tensor<f32>) -> tensor<8x64xf32>
    %183 = stablehlo.broadcast_in_dim %182, dims = [0, 1] : (tensor<8x64xf32>) -> tensor<8x64x256xf32>
    %184 = stablehlo.multiply %78, %183 : tensor<8x64x256xf32>
    %185 = stablehlo.add %178, %184 : tensor<8x64x256xf32>
    %186 = stablehlo.multiply %183, %78 : tensor<8x64x256xf32>
    %187 = stablehlo.add %185, %186 : tensor<8x64x256xf32>
    %188 = stablehlo.negate %187 : tensor<8x64x256xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %189 = stablehlo.reduce(%188 init: %cst_46) applies stablehlo.add across dimensions = [2] : (tensor<8x64x256xf32>, tensor<f32>) -> tensor<8x64xf32>
    %190 = stablehlo.reshape %189 : (tensor<8x64xf32>) -> tensor<8x64x1xf32>
    %191 = stablehlo.add %140, %187 : tensor<8x64x256xf32>
    %cst_47 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %192 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<8x64x1xf32>
    %193 = stablehlo.divide %190, %192 : tensor<8x64x1xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %194 = stablehlo.reduce(%193 init: %cst_48) applies stablehlo.add across dimensions = [2] : (tensor<8x64x1xf32>, tensor<f32>) -> tensor<8x64xf32>
    %195 = stablehlo.broadcast_in_dim %194, dims = [0, 1] : (tensor<8x64xf32>) -> tensor<8x64x256xf32>
    %196 = stablehlo.add %191, %195 : tensor<8x64x256xf32>
    %197 = stablehlo.dot_general %196, %70, contracting_dims = [0, 1] x [0, 2], precision = [DEFAULT, DEFAULT] : (tensor<8x64x256xf32>, tensor<8x4x64x64xf32>) -> tensor<256x4x64xf32>
    %198 = stablehlo.transpose %197, dims = [1, 2, 0] : (tensor<256x4x64xf32>) -> tensor<4x64x256xf32>
    %199 = stablehlo.dot_general %196, %arg7, contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x64x256xf32>, tensor<4x64x256xf32>) -> tensor<8x64x4x64xf32>
    %200 = stablehlo.transpose %199, dims = [0, 2, 1, 3] : (tensor<8x64x4x64xf32>) -> tensor<8x4x64x64xf32>
    %201 = stablehlo.dot_general %200, %66, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x64x64xf32>, tensor<8x4x64x64xf32>) -> tensor<8x4x64x64xf32>
    %202 = stablehlo.transpose %201, dims = [0, 1, 3, 2] : (tensor<8x4x64x64xf32>) -> tensor<8x4x64x64xf32>
    %203 = stablehlo.dot_general %200, %34, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<8x4x64x64xf32>, tensor<8x4x64x64xf32>) -> tensor<8x4x64x64xf32>
    %204 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2, 3] : (tensor<8x4x64x1xf32>) -> tensor<8x4x64x64xf32>
    %205 = stablehlo.multiply %203, %204 : tensor<8x4x64x64xf32>
    %206 = stablehlo.multiply %205, %62 : tensor<8x4x64x64xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %207 = stablehlo.reduce(%206 init: %cst_49) applies stablehlo.add across dimensions = [3] : (tensor<8x4x64x64xf32>, tensor<f32>) -> tensor<8x4x64xf32>
    %208 = stablehlo.reshape %207 : (tensor<8x4x64xf32>) -> tensor<8x4x64x1xf32>
    %209 = stablehlo.negate %208 : tensor<8x4x64x1xf32>
    %210 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2, 3] : (tensor<8x4x64x1xf32>) -> tensor<8x4x64x64xf32>
    %211 = stablehlo.divide %203, %210 : tensor<8x4x64x64xf32>
    %cst_50 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %212 = stablehlo.reduce(%209 init: %cst_50) applies stablehlo.add across dimensions = [3] : (tensor<8x4x64x1xf32>, tensor<f32>) -> tensor<8x4x64xf32>
    %213 = stablehlo.broadcast_in_dim %212, dims = [0, 1, 2] : (tensor<8x4x64xf32>) -> tensor<8x4x64x64xf32>
    %214 = stablehlo.add %211, %213 : tensor<8x4x64x64xf32>
    %215 = stablehlo.multiply %214, %62 : tensor<8x4x64x64xf32>
    %216 = call @_where_3(%40#1, %40#2, %215) : (tensor<8x4x64x64xi1>, tensor<8x4x64x64xf32>, tensor<8x4x64x64xf32>) -> tensor<8x4x64x64xf32>
    %cst_51 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %217 = stablehlo.broadcast_in_dim %cst_51, dims = [] : (tensor<f32>) -> tensor<8x4x64x64xf32>
    %218 = stablehlo.divide %216, %217 : tensor<8x4x64x64xf32>
    %219 = stablehlo.dot_general %218, %30, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x64x64xf32>, tensor<8x4x64x64xf32>) -> tensor<8x4x64x64xf32>
    %220 = stablehlo.dot_general %218, %32, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<8x4x64x64xf32>, tensor<8x4x64x64xf32>) -> tensor<8x4x64x64xf32>
    %221 = stablehlo.transpose %202, dims = [1, 3, 0, 2] : (tensor<8x4x64x64xf32>) -> tensor<4x64x8x64xf32>
    %222 = stablehlo.dot_general %221, %arg12, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x64xf32>, tensor<256x4x64xf32>) -> tensor<8x64x256xf32>
    %223 = stablehlo.dot_general %221, %28, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x64xf32>, tensor<8x64x256xf32>) -> tensor<4x64x256xf32>
    %224 = stablehlo.transpose %223, dims = [2, 0, 1] : (tensor<4x64x256xf32>) -> tensor<256x4x64xf32>
    %225 = stablehlo.transpose %219, dims = [1, 3, 0, 2] : (tensor<8x4x64x64xf32>) -> tensor<4x64x8x64xf32>
    %226 = stablehlo.dot_general %225, %arg2, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x64xf32>, tensor<256x4x64xf32>) -> tensor<8x64x256xf32>
    %227 = stablehlo.add %222, %226 : tensor<8x64x256xf32>
    %228 = stablehlo.dot_general %225, %28, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x64xf32>, tensor<8x64x256xf32>) -> tensor<4x64x256xf32>
    %229 = stablehlo.transpose %228, dims = [2, 0, 1] : (tensor<4x64x256xf32>) -> tensor<256x4x64xf32>
    %230 = stablehlo.transpose %220, dims = [1, 3, 0, 2] : (tensor<8x4x64x64xf32>) -> tensor<4x64x8x64xf32>
    %231 = stablehlo.dot_general %230, %arg9, contracting_dims = [0, 1] x [1, 2], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x64xf32>, tensor<256x4x64xf32>) -> tensor<8x64x256xf32>
    %232 = stablehlo.add %227, %231 : tensor<8x64x256xf32>
    %233 = stablehlo.dot_general %230, %28, contracting_dims = [2, 3] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<4x64x8x64xf32>, tensor<8x64x256xf32>) -> tensor<4x64x256xf32>
    %234 = stablehlo.transpose %233, dims = [2, 0, 1] : (tensor<4x64x256xf32>) -> tensor<256x4x64xf32>
    %cst_52 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %235 = stablehlo.reduce(%232 init: %cst_52) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %236 = stablehlo.reshape %235 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %237 = stablehlo.reduce(%236 init: %cst_53) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %238 = stablehlo.multiply %22, %232 : tensor<8x64x256xf32>
    %cst_54 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %239 = stablehlo.reduce(%238 init: %cst_54) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x64x256xf32>, tensor<f32>) -> tensor<256xf32>
    %240 = stablehlo.reshape %239 : (tensor<256xf32>) -> tensor<1x1x256xf32>
    %241 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<1x1x256xf32>) -> tensor<8x64x256xf32>
    %242 = stablehlo.multiply %232, %241 : tensor<8x64x256xf32>
    %cst_55 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %243 = stablehlo.reduce(%240 init: %cst_55) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x256xf32>, tensor<f32>) -> tensor<256xf32>
    %244 = stablehlo.multiply %9, %242 : tensor<8x64x256xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %245 = stablehlo.reduce(%244 init: %cst_56) applies stablehlo.add across dimensions = [2] : (tensor<8x64x256xf32>, tensor<f32>) -> tensor<8x64xf32>
    %246 = stablehlo.reshape %245 : (tensor<8x64xf32>) -> tensor<8x64x1xf32>
    %247 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2] : (tensor<8x64x1xf32>) -> tensor<8x64x256xf32>
    %248 = stablehlo.multiply %242, %247 : tensor<8x64x256xf32>
    %249 = stablehlo.multiply %246, %20 : tensor<8x64x1xf32>
    %cst_57 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %250 = stablehlo.broadcast_in_dim %cst_57, dims = [] : (tensor<f32>) -> tensor<8x64x1xf32>
    %251 = stablehlo.divide %249, %250 : tensor<8x64x1xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %252 = stablehlo.reduce(%251 init: %cst_58) applies stablehlo.add across dimensions = [2] : (tensor<8x64x1xf32>, tensor<f32>) -> tensor<8x64xf32>
    %253 = stablehlo.broadcast_in_dim %252, dims = [0, 1] : (tensor<8x64xf32>) -> tensor<8x64x256xf32>
    %254 = stablehlo.multiply %9, %253 : tensor<8x64x256xf32>
    %255 = stablehlo.add %248, %254 : tensor<8x64x256xf32>
    %256 = stablehlo.multiply %253, %9 : tensor<8x64x256xf32>
    %257 = stablehlo.add %255, %256 : tensor<8x64x256xf32>
    %258 = stablehlo.negate %257 : tensor<8x64x256xf32>
    %cst_59 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %259 = stablehlo.reduce(%258 init: %cst_59) applies stablehlo.add across dimensions = [2] : (tensor<8x64x256xf32>, tensor<f32>) -> tensor<8x64xf32>
    %260 = stablehlo.reshape %259 : (tensor<8x64xf32>) -> tensor<8x64x1xf32>
    %261 = stablehlo.add %196, %257 : tensor<8x64x256xf32>
    %cst_60 = stablehlo.constant dense<2.560000e+02> : tensor<f32>
    %262 = stablehlo.broadcast_in_dim %cst_60, dims = [] : (tensor<f32>) -> tensor<8x64x1xf32>
    %263 = stablehlo.divide %260, %262 : tensor<8x64x1xf32>
    %cst_61 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %264 = stablehlo.reduce(%263 init: %cst_61) applies stablehlo.add across dimensions = [2] : (tensor<8x64x1xf32>, tensor<f32>) -> tensor<8x64xf32>
    %265 = stablehlo.broadcast_in_dim %264, dims = [0, 1] : (tensor<8x64xf32>) -> tensor<8x64x256xf32>
    %266 = stablehlo.add %261, %265 : tensor<8x64x256xf32>
    %cst_62 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %267 = stablehlo.reduce(%266 init: %cst_62) applies stablehlo.add across dimensions = [0] : (tensor<8x64x256xf32>, tensor<f32>) -> tensor<64x256xf32>
    %268 = stablehlo.reshape %267 : (tensor<64x256xf32>) -> tensor<1x64x256xf32>
    %cst_63 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %269 = stablehlo.reduce(%268 init: %cst_63) applies stablehlo.add across dimensions = [0] : (tensor<1x64x256xf32>, tensor<f32>) -> tensor<64x256xf32>
    %270 = call @_take_4(%0#1, %266) : (tensor<8x64x1xi32>, tensor<8x64x256xf32>) -> tensor<256x256xf32>
    %271 = stablehlo.add %141, %270 : tensor<256x256xf32>
    %cst_64 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %272 = stablehlo.broadcast_in_dim %cst_64, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %273 = stablehlo.multiply %272, %arg13 : tensor<1024x256xf32>
    %274 = stablehlo.add %273, %143 : tensor<1024x256xf32>
    %cst_65 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %275 = stablehlo.broadcast_in_dim %cst_65, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %276 = stablehlo.multiply %275, %arg14 : tensor<256x256xf32>
    %277 = stablehlo.add %276, %271 : tensor<256x256xf32>
    %cst_66 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %278 = stablehlo.broadcast_in_dim %cst_66, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %279 = stablehlo.multiply %278, %arg15 : tensor<256x4x64xf32>
    %280 = stablehlo.add %279, %229 : tensor<256x4x64xf32>
    %cst_67 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %281 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %282 = stablehlo.multiply %281, %arg16 : tensor<256xf32>
    %283 = stablehlo.add %282, %243 : tensor<256xf32>
    %cst_68 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %284 = stablehlo.broadcast_in_dim %cst_68, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %285 = stablehlo.multiply %284, %arg17 : tensor<256xf32>
    %286 = stablehlo.add %285, %237 : tensor<256xf32>
    %cst_69 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %287 = stablehlo.broadcast_in_dim %cst_69, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %288 = stablehlo.multiply %287, %arg18 : tensor<256xf32>
    %289 = stablehlo.add %288, %173 : tensor<256xf32>
    %cst_70 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %290 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %291 = stablehlo.multiply %290, %arg19 : tensor<256xf32>
    %292 = stablehlo.add %291, %167 : tensor<256xf32>
    %cst_71 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %293 = stablehlo.broadcast_in_dim %cst_71, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %294 = stablehlo.multiply %293, %arg20 : tensor<4x64x256xf32>
    %295 = stablehlo.add %294, %198 : tensor<4x64x256xf32>
    %cst_72 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %296 = stablehlo.broadcast_in_dim %cst_72, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %297 = stablehlo.multiply %296, %arg21 : tensor<64x256xf32>
    %298 = stablehlo.add %297, %269 : tensor<64x256xf32>
    %cst_73 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %299 = stablehlo.broadcast_in_dim %cst_73, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %300 = stablehlo.multiply %299, %arg22 : tensor<256x4x64xf32>
    %301 = stablehlo.add %300, %234 : tensor<256x4x64xf32>
    %cst_74 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %302 = stablehlo.broadcast_in_dim %cst_74, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %303 = stablehlo.multiply %302, %arg23 : tensor<256x1024xf32>
    %304 = stablehlo.add %303, %163 : tensor<256x1024xf32>
    %cst_75 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %305 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %306 = stablehlo.multiply %305, %arg24 : tensor<1024xf32>
    %307 = stablehlo.add %306, %161 : tensor<1024xf32>
    %cst_76 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %308 = stablehlo.broadcast_in_dim %cst_76, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %309 = stablehlo.multiply %308, %arg25 : tensor<256x4x64xf32>
    %310 = stablehlo.add %309, %224 : tensor<256x4x64xf32>
    %cst_77 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %311 = stablehlo.broadcast_in_dim %cst_77, dims = [] : (tensor<f32>) -> tensor<1024x256xf32>
    %312 = stablehlo.multiply %311, %274 : tensor<1024x256xf32>
    %313 = stablehlo.subtract %arg0, %312 : tensor<1024x256xf32>
    %cst_78 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %314 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %315 = stablehlo.multiply %314, %277 : tensor<256x256xf32>
    %316 = stablehlo.subtract %arg1, %315 : tensor<256x256xf32>
    %cst_79 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %317 = stablehlo.broadcast_in_dim %cst_79, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %318 = stablehlo.multiply %317, %280 : tensor<256x4x64xf32>
    %319 = stablehlo.subtract %arg2, %318 : tensor<256x4x64xf32>
    %cst_80 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %320 = stablehlo.broadcast_in_dim %cst_80, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %321 = stablehlo.multiply %320, %283 : tensor<256xf32>
    %322 = stablehlo.subtract %arg3, %321 : tensor<256xf32>
    %cst_81 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %323 = stablehlo.broadcast_in_dim %cst_81, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %324 = stablehlo.multiply %323, %286 : tensor<256xf32>
    %325 = stablehlo.subtract %arg4, %324 : tensor<256xf32>
    %cst_82 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %326 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %327 = stablehlo.multiply %326, %289 : tensor<256xf32>
    %328 = stablehlo.subtract %arg5, %327 : tensor<256xf32>
    %cst_83 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %329 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<256xf32>
    %330 = stablehlo.multiply %329, %292 : tensor<256xf32>
    %331 = stablehlo.subtract %arg6, %330 : tensor<256xf32>
    %cst_84 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %332 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<4x64x256xf32>
    %333 = stablehlo.multiply %332, %295 : tensor<4x64x256xf32>
    %334 = stablehlo.subtract %arg7, %333 : tensor<4x64x256xf32>
    %cst_85 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %335 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<64x256xf32>
    %336 = stablehlo.multiply %335, %298 : tensor<64x256xf32>
    %337 = stablehlo.subtract %arg8, %336 : tensor<64x256xf32>
    %cst_86 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %338 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %339 = stablehlo.multiply %338, %301 : tensor<256x4x64xf32>
    %340 = stablehlo.subtract %arg9, %339 : tensor<256x4x64xf32>
    %cst_87 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %341 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<256x1024xf32>
    %342 = stablehlo.multiply %341, %304 : tensor<256x1024xf32>
    %343 = stablehlo.subtract %arg10, %342 : tensor<256x1024xf32>
    %cst_88 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %344 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<1024xf32>
    %345 = stablehlo.multiply %344, %307 : tensor<1024xf32>
    %346 = stablehlo.subtract %arg11, %345 : tensor<1024xf32>
    %cst_89 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %347 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<256x4x64xf32>
    %348 = stablehlo.multiply %347, %310 : tensor<256x4x64xf32>
    %349 = stablehlo.subtract %arg12, %348 : tensor<256x4x64xf32>
    return %131, %313, %316, %319, %322, %325, %328, %331, %334, %337, %340, %343, %346, %349, %274, %277, %280, %283, %286, %289, %292, %295, %298, %301, %304, %307, %310 : tensor<f32>, tensor<1024x256xf32>, tensor<256x256xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<4x64x256xf32>, tensor<64x256xf32>, tensor<256x4x64xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<256x4x64xf32>, tensor<1024x256xf32>, tensor<256x256xf32>, tensor<256x4x64xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<256xf32>, tensor<4x64x256xf32>, tensor<64x256xf32>, tensor<256x4x64xf32>, tensor<256x1024xf32>, tensor<1024xf32>, tensor<256x4x64xf32>
  }
  func.func private @_take(%arg0: tensor<256x256xf32>, %arg1: tensor<8x64xi32>) -> (tensor<8x64x256xf32>, tensor<8x64x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x64xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<8x64xi32>, tensor<8x64xi32>) -> tensor<8x64xi1>
    %c_0 = stablehlo.constant dense<256> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x64xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<8x64xi32>
    %4 = call @_where(%1, %3, %arg1) : (tensor<8x64xi1>, tensor<8x64xi32>, tensor<8x64xi32>) -> tensor<8x64xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<8x64xi32>) -> tensor<8x64x1xi32>
    %c_1 = stablehlo.constant dense<255> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8x64x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<8x64x1xi32>, tensor<8x64x1xi32>) -> tensor<8x64x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<8x64x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<8x64x1xi32>, tensor<8x64x1xi32>) -> tensor<8x64x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<8x64x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<8x64x1xi1>, tensor<i1>) -> tensor<8x64xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 256>}> : (tensor<256x256xf32>, tensor<8x64x1xi32>) -> tensor<8x64x256xf32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [0, 1] : (tensor<8x64xi1>) -> tensor<8x64x256xi1>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x64x256xf32>
    %16 = stablehlo.select %14, %13, %15 : tensor<8x64x256xi1>, tensor<8x64x256xf32>
    return %16, %5 : tensor<8x64x256xf32>, tensor<8x64x1xi32>
  }
  func.func private @_where(%arg0: tensor<8x64xi1>, %arg1: tensor<8x64xi32>, %arg2: tensor<8x64xi32>) -> tensor<8x64xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<8x64xi1>, tensor<8x64xi32>
    return %0 : tensor<8x64xi32>
  }
  func.func private @tril(%arg0: tensor<64x64xi1>) -> tensor<64x64xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<64x64xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<64x64xi32>
    %2 = stablehlo.add %0, %1 : tensor<64x64xi32>
    %3 = stablehlo.iota dim = 1 : tensor<64x64xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<64x64xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<64x64xi1>, tensor<64x64xi1>
    return %6 : tensor<64x64xi1>
  }
  func.func private @_where_0(%arg0: tensor<64x64xi1>, %arg1: tensor<8x4x64x64xf32>, %arg2: tensor<f32>) -> (tensor<8x4x64x64xf32>, tensor<8x4x64x64xi1>, tensor<8x4x64x64xf32>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<64x64xi1>) -> tensor<8x4x64x64xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<8x4x64x64xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<8x4x64x64xi1>, tensor<8x4x64x64xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x64x64xf32>
    return %3, %1, %4 : tensor<8x4x64x64xf32>, tensor<8x4x64x64xi1>, tensor<8x4x64x64xf32>
  }
  func.func private @log_softmax(%arg0: tensor<8x63x256xf32>) -> (tensor<8x63x256xf32>, tensor<8x63x256xf32>, tensor<8x63x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<8x63x256xf32>, tensor<f32>) -> tensor<8x63xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<8x63xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<8x63xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<8x63xf32>) -> tensor<8x63x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<8x63x1xf32>) -> tensor<8x63x256xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<8x63x256xf32>
    %6 = stablehlo.exponential %5 : tensor<8x63x256xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<8x63x256xf32>, tensor<f32>) -> tensor<8x63xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<8x63xf32>) -> tensor<8x63x1xf32>
    %9 = stablehlo.log %8 : tensor<8x63x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<8x63x1xf32>) -> tensor<8x63x256xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<8x63x256xf32>
    return %11, %6, %8 : tensor<8x63x256xf32>, tensor<8x63x256xf32>, tensor<8x63x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<8x63x256xf32>, %arg1: tensor<8x63x1xi32>) -> (tensor<8x63x1xf32>, tensor<8x63x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8x63x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<8x63x1xi32>, tensor<8x63x1xi32>) -> tensor<8x63x1xi1>
    %c_0 = stablehlo.constant dense<256> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<8x63x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<8x63x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<8x63x1xi1>, tensor<8x63x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<8x63x1xi32>) -> tensor<8x63x1x1xi32>
    %c_1 = stablehlo.constant dense<255> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<8x63x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<8x63x1x1xi32>, tensor<8x63x1x1xi32>) -> tensor<8x63x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<8x63x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<8x63x1x1xi32>, tensor<8x63x1x1xi32>) -> tensor<8x63x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<8x63x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<8x63x1x1xi1>, tensor<i1>) -> tensor<8x63x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<8x63x256xf32>, tensor<8x63x1x1xi32>) -> tensor<8x63x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x63x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<8x63x1xi1>, tensor<8x63x1xf32>
    return %15, %5 : tensor<8x63x1xf32>, tensor<8x63x1x1xi32>
  }
  func.func private @take_along_axis_1(%arg0: tensor<8x63x1x1xi32>, %arg1: tensor<8x63x1xf32>) -> tensor<8x63x256xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x63x256xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<8x63x256xf32>, tensor<8x63x1x1xi32>, tensor<8x63x1xf32>) -> tensor<8x63x256xf32>
    return %1 : tensor<8x63x256xf32>
  }
  func.func private @log_softmax_2(%arg0: tensor<8x63x256xf32>, %arg1: tensor<8x63x1xf32>, %arg2: tensor<8x63x256xf32>) -> tensor<8x63x256xf32> {
    %0 = stablehlo.negate %arg2 : tensor<8x63x256xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<8x63x256xf32>, tensor<f32>) -> tensor<8x63xf32>
    %2 = stablehlo.reshape %1 : (tensor<8x63xf32>) -> tensor<8x63x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<8x63x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<8x63x1xf32>, tensor<f32>) -> tensor<8x63xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<8x63xf32>) -> tensor<8x63x256xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<8x63x256xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<8x63x256xf32>
    return %7 : tensor<8x63x256xf32>
  }
  func.func private @_where_3(%arg0: tensor<8x4x64x64xi1>, %arg1: tensor<8x4x64x64xf32>, %arg2: tensor<8x4x64x64xf32>) -> tensor<8x4x64x64xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<8x4x64x64xf32>
    %1 = stablehlo.select %arg0, %arg2, %0 : tensor<8x4x64x64xi1>, tensor<8x4x64x64xf32>
    return %1 : tensor<8x4x64x64xf32>
  }
  func.func private @_take_4(%arg0: tensor<8x64x1xi32>, %arg1: tensor<8x64x256xf32>) -> tensor<256x256xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<256x256xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<256x256xf32>, tensor<8x64x1xi32>, tensor<8x64x256xf32>) -> tensor<256x256xf32>
    return %1 : tensor<256x256xf32>
  }
}
