module @jit_network attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512x512xi8>, %arg1: tensor<512xf32>, %arg2: tensor<512x512xi8>, %arg3: tensor<512xf32>, %arg4: tensor<512x512xi8>, %arg5: tensor<512xf32>, %arg6: tensor<256x512xi8>) -> (tensor<256x512xi8> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg6, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xi8>, tensor<512x512xi8>) -> tensor<256x512xi32>
    %1 = stablehlo.convert %0 : (tensor<256x512xi32>) -> tensor<256x512xf32>
    %2 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<256x512xf32>
    %4 = stablehlo.multiply %1, %3 : tensor<256x512xf32>
    %5 = call @round(%4) : (tensor<256x512xf32>) -> tensor<256x512xf32>
    %c = stablehlo.constant dense<-128> : tensor<i32>
    %c_0 = stablehlo.constant dense<127> : tensor<i32>
    %6 = call @clip(%5, %c, %c_0) : (tensor<256x512xf32>, tensor<i32>, tensor<i32>) -> tensor<256x512xf32>
    %7 = stablehlo.convert %6 : (tensor<256x512xf32>) -> tensor<256x512xi8>
    %8 = stablehlo.dot_general %7, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xi8>, tensor<512x512xi8>) -> tensor<256x512xi32>
    %9 = stablehlo.convert %8 : (tensor<256x512xi32>) -> tensor<256x512xf32>
    %10 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<256x512xf32>
    %12 = stablehlo.multiply %9, %11 : tensor<256x512xf32>
    %13 = call @round(%12) : (tensor<256x512xf32>) -> tensor<256x512xf32>
    %c_1 = stablehlo.constant dense<-128> : tensor<i32>
    %c_2 = stablehlo.constant dense<127> : tensor<i32>
    %14 = call @clip(%13, %c_1, %c_2) : (tensor<256x512xf32>, tensor<i32>, tensor<i32>) -> tensor<256x512xf32>
    %15 = stablehlo.convert %14 : (tensor<256x512xf32>) -> tensor<256x512xi8>
    %16 = stablehlo.dot_general %15, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<256x512xi8>, tensor<512x512xi8>) -> tensor<256x512xi32>
    %17 = stablehlo.convert %16 : (tensor<256x512xi32>) -> tensor<256x512xf32>
    %18 = stablehlo.broadcast_in_dim %arg5, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<256x512xf32>
    %20 = stablehlo.multiply %17, %19 : tensor<256x512xf32>
    %21 = call @round(%20) : (tensor<256x512xf32>) -> tensor<256x512xf32>
    %c_3 = stablehlo.constant dense<-128> : tensor<i32>
    %c_4 = stablehlo.constant dense<127> : tensor<i32>
    %22 = call @clip(%21, %c_3, %c_4) : (tensor<256x512xf32>, tensor<i32>, tensor<i32>) -> tensor<256x512xf32>
    %23 = stablehlo.convert %22 : (tensor<256x512xf32>) -> tensor<256x512xi8>
    return %23 : tensor<256x512xi8>
  }
  func.func private @round(%arg0: tensor<256x512xf32>) -> tensor<256x512xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<256x512xf32>
    return %0 : tensor<256x512xf32>
  }
  func.func private @clip(%arg0: tensor<256x512xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<256x512xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<256x512xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<256x512xf32>
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<256x512xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<256x512xf32>
    return %5 : tensor<256x512xf32>
  }
}
