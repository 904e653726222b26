module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16x8xf32>, %arg1: tensor<11x8xf32>, %arg2: tensor<8x8xf32>, %arg3: tensor<8xf32>, %arg4: tensor<8xf32>, %arg5: tensor<8x8xf32>, %arg6: tensor<6x8xf32>, %arg7: tensor<8x8xf32>, %arg8: tensor<8x16xf32>, %arg9: tensor<8x8xf32>, %arg10: tensor<16x8xf32>, %arg11: tensor<11x8xf32>, %arg12: tensor<8x8xf32>, %arg13: tensor<8xf32>, %arg14: tensor<8xf32>, %arg15: tensor<8x8xf32>, %arg16: tensor<6x8xf32>, %arg17: tensor<8x8xf32>, %arg18: tensor<8x16xf32>, %arg19: tensor<8x8xf32>, %arg20: tensor<2x6xi32>, %arg21: tensor<2xui32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<16x8xf32> {jax.result_info = "result[1]['down']"}, tensor<11x8xf32> {jax.result_info = "result[1]['embedding']"}, tensor<8x8xf32> {jax.result_info = "result[1]['k']"}, tensor<8xf32> {jax.result_info = "result[1]['norm1']"}, tensor<8xf32> {jax.result_info = "result[1]['norm2']"}, tensor<8x8xf32> {jax.result_info = "result[1]['o']"}, tensor<6x8xf32> {jax.result_info = "result[1]['position']"}, tensor<8x8xf32> {jax.result_info = "result[1]['q']"}, tensor<8x16xf32> {jax.result_info = "result[1]['up']"}, tensor<8x8xf32> {jax.result_info = "result[1]['v']"}, tensor<16x8xf32> {jax.result_info = "result[2]['down']"}, tensor<11x8xf32> {jax.result_info = "result[2]['embedding']"}, tensor<8x8xf32> {jax.result_info = "result[2]['k']"}, tensor<8xf32> {jax.result_info = "result[2]['norm1']"}, tensor<8xf32> {jax.result_info = "result[2]['norm2']"}, tensor<8x8xf32> {jax.result_info = "result[2]['o']"}, tensor<6x8xf32> {jax.result_info = "result[2]['position']"}, tensor<8x8xf32> {jax.result_info = "result[2]['q']"}, tensor<8x16xf32> {jax.result_info = "result[2]['up']"}, tensor<8x8xf32> {jax.result_info = "result[2]['v']"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x6xi32>
    %1 = stablehlo.compare LT, %arg20, %0, SIGNED : (tensor<2x6xi32>, tensor<2x6xi32>) -> tensor<2x6xi1>
    %c_0 = stablehlo.constant dense<11> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x6xi32>
    %3 = stablehlo.add %arg20, %2 : tensor<2x6xi32>
    %4 = stablehlo.select %1, %3, %arg20 : tensor<2x6xi1>, tensor<2x6xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x6xi32>) -> tensor<2x6x1xi32>
    %6 = "stablehlo.gather"(%arg1, %5) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 8>}> : (tensor<11x8xf32>, tensor<2x6x1xi32>) -> tensor<2x6x8xf32>
    %7 = stablehlo.broadcast_in_dim %arg6, dims = [1, 2] : (tensor<6x8xf32>) -> tensor<1x6x8xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1, 2] : (tensor<1x6x8xf32>) -> tensor<2x6x8xf32>
    %9 = stablehlo.add %6, %8 : tensor<2x6x8xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.reduce(%9 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %11 = stablehlo.broadcast_in_dim %10, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %cst_1 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %13 = stablehlo.divide %11, %12 : tensor<2x6x1xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x8xf32>
    %15 = stablehlo.subtract %9, %14 : tensor<2x6x8xf32>
    %16 = stablehlo.multiply %15, %15 : tensor<2x6x8xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst_2) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %cst_3 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %19 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %20 = stablehlo.divide %18, %19 : tensor<2x6x1xf32>
    %cst_4 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %22 = stablehlo.add %20, %21 : tensor<2x6x1xf32>
    %23 = stablehlo.rsqrt %22 : tensor<2x6x1xf32>
    %24 = stablehlo.divide %23, %22 : tensor<2x6x1xf32>
    %cst_5 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %26 = stablehlo.multiply %25, %24 : tensor<2x6x1xf32>
    %27 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x8xf32>
    %28 = stablehlo.multiply %15, %27 : tensor<2x6x8xf32>
    %29 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<2x6x8xf32>
    %31 = stablehlo.multiply %28, %30 : tensor<2x6x8xf32>
    %32 = stablehlo.dot_general %31, %arg7, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%9 init: %cst_6) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %cst_7 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %36 = stablehlo.divide %34, %35 : tensor<2x6x1xf32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x8xf32>
    %38 = stablehlo.subtract %9, %37 : tensor<2x6x8xf32>
    %39 = stablehlo.multiply %38, %38 : tensor<2x6x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.reduce(%39 init: %cst_8) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %cst_9 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %42 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %43 = stablehlo.divide %41, %42 : tensor<2x6x1xf32>
    %cst_10 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %45 = stablehlo.add %43, %44 : tensor<2x6x1xf32>
    %46 = stablehlo.rsqrt %45 : tensor<2x6x1xf32>
    %47 = stablehlo.divide %46, %45 : tensor<2x6x1xf32>
    %cst_11 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %48 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %49 = stablehlo.multiply %48, %47 : tensor<2x6x1xf32>
    %50 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x8xf32>
    %51 = stablehlo.multiply %38, %50 : tensor<2x6x8xf32>
    %52 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %53 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<2x6x8xf32>
    %54 = stablehlo.multiply %51, %53 : tensor<2x6x8xf32>
    %55 = stablehlo.dot_general %54, %arg2, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %56 = stablehlo.reduce(%9 init: %cst_12) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %57 = stablehlo.broadcast_in_dim %56, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %cst_13 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %59 = stablehlo.divide %57, %58 : tensor<2x6x1xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x8xf32>
    %61 = stablehlo.subtract %9, %60 : tensor<2x6x8xf32>
    %62 = stablehlo.multiply %61, %61 : tensor<2x6x8xf32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %63 = stablehlo.reduce(%62 init: %cst_14) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %cst_15 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %66 = stablehlo.divide %64, %65 : tensor<2x6x1xf32>
    %cst_16 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %68 = stablehlo.add %66, %67 : tensor<2x6x1xf32>
    %69 = stablehlo.rsqrt %68 : tensor<2x6x1xf32>
    %70 = stablehlo.divide %69, %68 : tensor<2x6x1xf32>
    %cst_17 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %72 = stablehlo.multiply %71, %70 : tensor<2x6x1xf32>
    %73 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x8xf32>
    %74 = stablehlo.multiply %61, %73 : tensor<2x6x8xf32>
    %75 = stablehlo.broadcast_in_dim %arg3, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %76 = stablehlo.broadcast_in_dim %75, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<2x6x8xf32>
    %77 = stablehlo.multiply %74, %76 : tensor<2x6x8xf32>
    %78 = stablehlo.dot_general %77, %arg9, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
    %79 = stablehlo.reshape %32 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
    %80 = stablehlo.reshape %55 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
    %81 = stablehlo.reshape %78 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
    %82 = stablehlo.dot_general %79, %80, batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x6x2x4xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x6x6xf32>
    %cst_18 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<2x2x6x6xf32>
    %84 = stablehlo.divide %82, %83 : tensor<2x2x6x6xf32>
    %c_19 = stablehlo.constant dense<true> : tensor<i1>
    %85 = stablehlo.broadcast_in_dim %c_19, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %86 = call @tril(%85) : (tensor<6x6xi1>) -> tensor<6x6xi1>
    %cst_20 = stablehlo.constant dense<-1.000000e+09> : tensor<f32>
    %87:2 = call @_where(%86, %84, %cst_20) : (tensor<6x6xi1>, tensor<2x2x6x6xf32>, tensor<f32>) -> (tensor<2x2x6x6xf32>, tensor<2x2x6x6xi1>)
    %cst_21 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %88 = stablehlo.reduce(%87#0 init: %cst_21) applies stablehlo.maximum across dimensions = [3] : (tensor<2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x6xf32>
    %cst_22 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %89 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<2x2x6xf32>
    %90 = stablehlo.maximum %89, %88 : tensor<2x2x6xf32>
    %91 = stablehlo.broadcast_in_dim %90, dims = [0, 1, 2] : (tensor<2x2x6xf32>) -> tensor<2x2x6x1xf32>
    %92 = stablehlo.broadcast_in_dim %91, dims = [0, 1, 2, 3] : (tensor<2x2x6x1xf32>) -> tensor<2x2x6x6xf32>
    %93 = stablehlo.subtract %87#0, %92 : tensor<2x2x6x6xf32>
    %94 = stablehlo.exponential %93 : tensor<2x2x6x6xf32>
    %cst_23 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %95 = stablehlo.reduce(%94 init: %cst_23) applies stablehlo.add across dimensions = [3] : (tensor<2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x6xf32>
    %96 = stablehlo.broadcast_in_dim %95, dims = [0, 1, 2] : (tensor<2x2x6xf32>) -> tensor<2x2x6x1xf32>
    %97 = stablehlo.broadcast_in_dim %96, dims = [0, 1, 2, 3] : (tensor<2x2x6x1xf32>) -> tensor<2x2x6x6xf32>
    %98 = stablehlo.divide %94, %97 : tensor<2x2x6x6xf32>
    %99 = stablehlo.multiply %96, %96 : tensor<2x2x6x1xf32>
    %cst_24 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %100 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<2x2x6x1xf32>
    %101 = stablehlo.divide %100, %99 : tensor<2x2x6x1xf32>
    %102 = stablehlo.dot_general %81, %98, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x6x2x4xf32>, tensor<2x2x6x6xf32>) -> tensor<2x2x4x6xf32>
    %103 = stablehlo.transpose %102, dims = [0, 3, 1, 2] : (tensor<2x2x4x6xf32>) -> tensor<2x6x2x4xf32>
    %104 = stablehlo.reshape %103 : (tensor<2x6x2x4xf32>) -> tensor<2x6x8xf32>
    %105 = stablehlo.dot_general %104, %arg5, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
    %cst_25 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %106 = call @_bernoulli(%arg21, %cst_25) : (tensor<2xui32>, tensor<f32>) -> tensor<2x6x8xi1>
    %cst_26 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %107 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<2x6x8xf32>
    %108 = stablehlo.divide %105, %107 : tensor<2x6x8xf32>
    %c_27 = stablehlo.constant dense<0> : tensor<i32>
    %109 = call @_where_0(%106, %108, %c_27) : (tensor<2x6x8xi1>, tensor<2x6x8xf32>, tensor<i32>) -> tensor<2x6x8xf32>
    %110 = stablehlo.add %9, %109 : tensor<2x6x8xf32>
    %cst_28 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %111 = stablehlo.reduce(%110 init: %cst_28) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %112 = stablehlo.broadcast_in_dim %111, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %cst_29 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %113 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %114 = stablehlo.divide %112, %113 : tensor<2x6x1xf32>
    %115 = stablehlo.broadcast_in_dim %114, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x8xf32>
    %116 = stablehlo.subtract %110, %115 : tensor<2x6x8xf32>
    %117 = stablehlo.multiply %116, %116 : tensor<2x6x8xf32>
    %cst_30 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %118 = stablehlo.reduce(%117 init: %cst_30) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %119 = stablehlo.broadcast_in_dim %118, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %cst_31 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %120 = stablehlo.broadcast_in_dim %cst_31, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %121 = stablehlo.divide %119, %120 : tensor<2x6x1xf32>
    %cst_32 = stablehlo.constant dense<9.99999974E-6> : tensor<f32>
    %122 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %123 = stablehlo.add %121, %122 : tensor<2x6x1xf32>
    %124 = stablehlo.rsqrt %123 : tensor<2x6x1xf32>
    %125 = stablehlo.divide %124, %123 : tensor<2x6x1xf32>
    %cst_33 = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %126 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %127 = stablehlo.multiply %126, %125 : tensor<2x6x1xf32>
    %128 = stablehlo.broadcast_in_dim %124, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x8xf32>
    %129 = stablehlo.multiply %116, %128 : tensor<2x6x8xf32>
    %130 = stablehlo.broadcast_in_dim %arg4, dims = [2] : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %131 = stablehlo.broadcast_in_dim %130, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<2x6x8xf32>
    %132 = stablehlo.multiply %129, %131 : tensor<2x6x8xf32>
    %133 = stablehlo.dot_general %132, %arg8, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<8x16xf32>) -> tensor<2x6x16xf32>
    %cst_34 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %134 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<2x6x16xf32>
    %135 = stablehlo.multiply %134, %133 : tensor<2x6x16xf32>
    %136 = stablehlo.negate %133 : tensor<2x6x16xf32>
    %cst_35 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %137 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<2x6x16xf32>
    %138 = stablehlo.multiply %136, %137 : tensor<2x6x16xf32>
    %139 = chlo.erfc %138 : tensor<2x6x16xf32> -> tensor<2x6x16xf32>
    %140 = chlo.square %138 : tensor<2x6x16xf32> -> tensor<2x6x16xf32>
    %141 = stablehlo.negate %140 : tensor<2x6x16xf32>
    %142 = stablehlo.exponential %141 : tensor<2x6x16xf32>
    %143 = stablehlo.multiply %135, %139 : tensor<2x6x16xf32>
    %144 = stablehlo.dot_general %143, %arg0, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x6x16xf32>, tensor<16x8xf32>) -> tensor<2x6x8xf32>
    %145 = stablehlo.add %110, %144 : tensor<2x6x8xf32>
    %146 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<11x8xf32>) -> tensor<8x11xf32>
    %147 = stablehlo.dot_general %145, %146, contracting_dims = [2] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<8x11xf32>) -> tensor<2x6x11xf32>
    %148 = stablehlo.slice %147 [0:2, 0:5, 0:11] : (tensor<2x6x11xf32>) -> tensor<2x5x11xf32>
    %149 = stablehlo.slice %arg20 [0:2, 1:6] : (tensor<2x6xi32>) -> tensor<2x5xi32>
    %150:3 = call @log_softmax(%148) : (tensor<2x5x11xf32>) -> (tensor<2x5x11xf32>, tensor<2x5x11xf32>, tensor<2x5x1xf32>)
    %151 = stablehlo.broadcast_in_dim %149, dims = [0, 1] : (tensor<2x5xi32>) -> tensor<2x5x1xi32>
    %152:2 = call @take_along_axis(%150#0, %151) : (tensor<2x5x11xf32>, tensor<2x5x1xi32>) -> (tensor<2x5x1xf32>, tensor<2x5x1x1xi32>)
    %cst_36 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %153 = stablehlo.reduce(%152#0 init: %cst_36) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_37 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %154 = stablehlo.divide %153, %cst_37 : tensor<f32>
    %155 = stablehlo.negate %154 : tensor<f32>
    %cst_38 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %156 = stablehlo.negate %cst_38 : tensor<f32>
    %cst_39 = stablehlo.constant dense<1.000000e+01> : tensor<f32>
    %157 = stablehlo.divide %156, %cst_39 : tensor<f32>
    %158 = stablehlo.broadcast_in_dim %157, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %159 = call @take_along_axis_1(%152#1, %158) : (tensor<2x5x1x1xi32>, tensor<2x5x1xf32>) -> tensor<2x5x11xf32>
    %160 = call @log_softmax_2(%150#1, %150#2, %159) : (tensor<2x5x11xf32>, tensor<2x5x1xf32>, tensor<2x5x11xf32>) -> tensor<2x5x11xf32>
    %cst_40 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %161 = stablehlo.pad %160, %cst_40, low = [0, 0, 0], high = [0, 1, 0], interior = [0, 0, 0] : (tensor<2x5x11xf32>, tensor<f32>) -> tensor<2x6x11xf32>
    %162 = stablehlo.dot_general %161, %145, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x11xf32>, tensor<2x6x8xf32>) -> tensor<11x8xf32>
    %163 = stablehlo.transpose %162, dims = [1, 0] : (tensor<11x8xf32>) -> tensor<8x11xf32>
    %164 = stablehlo.dot_general %161, %146, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x11xf32>, tensor<8x11xf32>) -> tensor<2x6x8xf32>
    %165 = stablehlo.transpose %163, dims = [1, 0] : (tensor<8x11xf32>) -> tensor<11x8xf32>
    %166 = stablehlo.dot_general %164, %143, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<2x6x16xf32>) -> tensor<8x16xf32>
    %167 = stablehlo.transpose %166, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
    %168 = stablehlo.dot_general %164, %arg0, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<16x8xf32>) -> tensor<2x6x16xf32>
    %169 = stablehlo.multiply %135, %168 : tensor<2x6x16xf32>
    %170 = stablehlo.multiply %168, %139 : tensor<2x6x16xf32>
    %cst_41 = stablehlo.constant dense<-1.12837923> : tensor<f32>
    %171 = stablehlo.broadcast_in_dim %cst_41, dims = [] : (tensor<f32>) -> tensor<2x6x16xf32>
    %172 = stablehlo.multiply %171, %169 : tensor<2x6x16xf32>
    %173 = stablehlo.multiply %172, %142 : tensor<2x6x16xf32>
    %cst_42 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %174 = stablehlo.broadcast_in_dim %cst_42, dims = [] : (tensor<f32>) -> tensor<2x6x16xf32>
    %175 = stablehlo.multiply %173, %174 : tensor<2x6x16xf32>
    %176 = stablehlo.negate %175 : tensor<2x6x16xf32>
    %cst_43 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %177 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<2x6x16xf32>
    %178 = stablehlo.multiply %177, %170 : tensor<2x6x16xf32>
    %179 = stablehlo.add %176, %178 : tensor<2x6x16xf32>
    %180 = stablehlo.dot_general %179, %132, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x16xf32>, tensor<2x6x8xf32>) -> tensor<16x8xf32>
    %181 = stablehlo.transpose %180, dims = [1, 0] : (tensor<16x8xf32>) -> tensor<8x16xf32>
    %182 = stablehlo.dot_general %179, %arg8, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x16xf32>, tensor<8x16xf32>) -> tensor<2x6x8xf32>
    %183 = stablehlo.multiply %129, %182 : tensor<2x6x8xf32>
    %cst_44 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %184 = stablehlo.reduce(%183 init: %cst_44) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<8xf32>
    %185 = stablehlo.reshape %184 : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %186 = stablehlo.broadcast_in_dim %130, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<2x6x8xf32>
    %187 = stablehlo.multiply %182, %186 : tensor<2x6x8xf32>
    %cst_45 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %188 = stablehlo.reduce(%185 init: %cst_45) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %189 = stablehlo.multiply %116, %187 : tensor<2x6x8xf32>
    %cst_46 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %190 = stablehlo.reduce(%189 init: %cst_46) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %191 = stablehlo.reshape %190 : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %192 = stablehlo.broadcast_in_dim %124, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x8xf32>
    %193 = stablehlo.multiply %187, %192 : tensor<2x6x8xf32>
    %194 = stablehlo.multiply %191, %127 : tensor<2x6x1xf32>
    %cst_47 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %195 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %196 = stablehlo.divide %194, %195 : tensor<2x6x1xf32>
    %cst_48 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %197 = stablehlo.reduce(%196 init: %cst_48) applies stablehlo.add across dimensions = [2] : (tensor<2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %198 = stablehlo.broadcast_in_dim %197, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x8xf32>
    %199 = stablehlo.multiply %116, %198 : tensor<2x6x8xf32>
    %200 = stablehlo.add %193, %199 : tensor<2x6x8xf32>
    %201 = stablehlo.multiply %198, %116 : tensor<2x6x8xf32>
    %202 = stablehlo.add %200, %201 : tensor<2x6x8xf32>
    %203 = stablehlo.negate %202 : tensor<2x6x8xf32>
    %cst_49 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %204 = stablehlo.reduce(%203 init: %cst_49) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %205 = stablehlo.reshape %204 : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %206 = stablehlo.add %164, %202 : tensor<2x6x8xf32>
    %cst_50 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %207 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %208 = stablehlo.divide %205, %207 : tensor<2x6x1xf32>
    %cst_51 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %209 = stablehlo.reduce(%208 init: %cst_51) applies stablehlo.add across dimensions = [2] : (tensor<2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %210 = stablehlo.broadcast_in_dim %209, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x8xf32>
    %211 = stablehlo.add %206, %210 : tensor<2x6x8xf32>
    %212 = call @_where_3(%106, %211) : (tensor<2x6x8xi1>, tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
    %cst_52 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %213 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<2x6x8xf32>
    %214 = stablehlo.divide %212, %213 : tensor<2x6x8xf32>
    %215 = stablehlo.dot_general %214, %104, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<8x8xf32>
    %216 = stablehlo.transpose %215, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %217 = stablehlo.dot_general %214, %arg5, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
    %218 = stablehlo.reshape %217 : (tensor<2x6x8xf32>) -> tensor<2x6x2x4xf32>
    %219 = stablehlo.transpose %218, dims = [0, 2, 3, 1] : (tensor<2x6x2x4xf32>) -> tensor<2x2x4x6xf32>
    %220 = stablehlo.dot_general %219, %81, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x6xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x6x6xf32>
    %221 = stablehlo.dot_general %219, %98, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x2x4x6xf32>, tensor<2x2x6x6xf32>) -> tensor<2x2x4x6xf32>
    %222 = stablehlo.transpose %221, dims = [0, 3, 1, 2] : (tensor<2x2x4x6xf32>) -> tensor<2x6x2x4xf32>
    %223 = stablehlo.broadcast_in_dim %101, dims = [0, 1, 2, 3] : (tensor<2x2x6x1xf32>) -> tensor<2x2x6x6xf32>
    %224 = stablehlo.multiply %220, %223 : tensor<2x2x6x6xf32>
    %225 = stablehlo.multiply %224, %94 : tensor<2x2x6x6xf32>
    %cst_53 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %226 = stablehlo.reduce(%225 init: %cst_53) applies stablehlo.add across dimensions = [3] : (tensor<2x2x6x6xf32>, tensor<f32>) -> tensor<2x2x6xf32>
    %227 = stablehlo.reshape %226 : (tensor<2x2x6xf32>) -> tensor<2x2x6x1xf32>
    %228 = stablehlo.negate %227 : tensor<2x2x6x1xf32>
    %229 = stablehlo.broadcast_in_dim %96, dims = [0, 1, 2, 3] : (tensor<2x2x6x1xf32>) -> tensor<2x2x6x6xf32>
    %230 = stablehlo.divide %220, %229 : tensor<2x2x6x6xf32>
    %cst_54 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %231 = stablehlo.reduce(%228 init: %cst_54) applies stablehlo.add across dimensions = [3] : (tensor<2x2x6x1xf32>, tensor<f32>) -> tensor<2x2x6xf32>
    %232 = stablehlo.broadcast_in_dim %231, dims = [0, 1, 2] : (tensor<2x2x6xf32>) -> tensor<2x2x6x6xf32>
    %233 = stablehlo.add %230, %232 : tensor<2x2x6x6xf32>
    %234 = stablehlo.multiply %233, %94 : tensor<2x2x6x6xf32>
    %235 = call @_where_4(%87#1, %234) : (tensor<2x2x6x6xi1>, tensor<2x2x6x6xf32>) -> tensor<2x2x6x6xf32>
    %cst_55 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %236 = stablehlo.broadcast_in_dim %cst_55, dims = [] : (tensor<f32>) -> tensor<2x2x6x6xf32>
    %237 = stablehlo.divide %235, %236 : tensor<2x2x6x6xf32>
    %238 = stablehlo.dot_general %237, %79, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x6x6xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
    %239 = stablehlo.transpose %238, dims = [0, 2, 1, 3] : (tensor<2x2x6x4xf32>) -> tensor<2x6x2x4xf32>
    %240 = stablehlo.dot_general %237, %80, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x2x6x6xf32>, tensor<2x6x2x4xf32>) -> tensor<2x2x6x4xf32>
    %241 = stablehlo.transpose %240, dims = [0, 2, 1, 3] : (tensor<2x2x6x4xf32>) -> tensor<2x6x2x4xf32>
    %242 = stablehlo.reshape %222 : (tensor<2x6x2x4xf32>) -> tensor<2x6x8xf32>
    %243 = stablehlo.reshape %239 : (tensor<2x6x2x4xf32>) -> tensor<2x6x8xf32>
    %244 = stablehlo.reshape %241 : (tensor<2x6x2x4xf32>) -> tensor<2x6x8xf32>
    %245 = stablehlo.dot_general %242, %77, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<8x8xf32>
    %246 = stablehlo.transpose %245, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %247 = stablehlo.dot_general %242, %arg9, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
    %248 = stablehlo.multiply %74, %247 : tensor<2x6x8xf32>
    %cst_56 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %249 = stablehlo.reduce(%248 init: %cst_56) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<8xf32>
    %250 = stablehlo.reshape %249 : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %251 = stablehlo.broadcast_in_dim %75, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<2x6x8xf32>
    %252 = stablehlo.multiply %247, %251 : tensor<2x6x8xf32>
    %cst_57 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %253 = stablehlo.reduce(%250 init: %cst_57) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %254 = stablehlo.multiply %61, %252 : tensor<2x6x8xf32>
    %cst_58 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %255 = stablehlo.reduce(%254 init: %cst_58) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %256 = stablehlo.reshape %255 : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %257 = stablehlo.broadcast_in_dim %69, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x8xf32>
    %258 = stablehlo.multiply %252, %257 : tensor<2x6x8xf32>
    %259 = stablehlo.multiply %256, %72 : tensor<2x6x1xf32>
    %cst_59 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %260 = stablehlo.broadcast_in_dim %cst_59, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %261 = stablehlo.divide %259, %260 : tensor<2x6x1xf32>
    %cst_60 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %262 = stablehlo.reduce(%261 init: %cst_60) applies stablehlo.add across dimensions = [2] : (tensor<2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %263 = stablehlo.broadcast_in_dim %262, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x8xf32>
    %264 = stablehlo.multiply %61, %263 : tensor<2x6x8xf32>
    %265 = stablehlo.add %258, %264 : tensor<2x6x8xf32>
    %266 = stablehlo.multiply %263, %61 : tensor<2x6x8xf32>
    %267 = stablehlo.add %265, %266 : tensor<2x6x8xf32>
    %268 = stablehlo.negate %267 : tensor<2x6x8xf32>
    %cst_61 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %269 = stablehlo.reduce(%268 init: %cst_61) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %270 = stablehlo.reshape %269 : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %271 = stablehlo.add %211, %267 : tensor<2x6x8xf32>
    %cst_62 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %272 = stablehlo.broadcast_in_dim %cst_62, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %273 = stablehlo.divide %270, %272 : tensor<2x6x1xf32>
    %cst_63 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %274 = stablehlo.reduce(%273 init: %cst_63) applies stablehlo.add across dimensions = [2] : (tensor<2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %275 = stablehlo.broadcast_in_dim %274, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x8xf32>
    %276 = stablehlo.add %271, %275 : tensor<2x6x8xf32>
    %277 = stablehlo.dot_general %243, %54, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<8x8xf32>
    %278 = stablehlo.transpose %277, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %279 = stablehlo.dot_general %243, %arg2, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
    %280 = stablehlo.multiply %51, %279 : tensor<2x6x8xf32>
    %cst_64 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %281 = stablehlo.reduce(%280 init: %cst_64) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<8xf32>
    %282 = stablehlo.reshape %281 : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %283 = stablehlo.broadcast_in_dim %52, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<2x6x8xf32>
    %284 = stablehlo.multiply %279, %283 : tensor<2x6x8xf32>
    %cst_65 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %285 = stablehlo.reduce(%282 init: %cst_65) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %286 = stablehlo.add %253, %285 : tensor<8xf32>
    %287 = stablehlo.multiply %38, %284 : tensor<2x6x8xf32>
    %cst_66 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %288 = stablehlo.reduce(%287 init: %cst_66) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %289 = stablehlo.reshape %288 : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %290 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x8xf32>
    %291 = stablehlo.multiply %284, %290 : tensor<2x6x8xf32>
    %292 = stablehlo.multiply %289, %49 : tensor<2x6x1xf32>
    %cst_67 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %293 = stablehlo.broadcast_in_dim %cst_67, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %294 = stablehlo.divide %292, %293 : tensor<2x6x1xf32>
    %cst_68 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %295 = stablehlo.reduce(%294 init: %cst_68) applies stablehlo.add across dimensions = [2] : (tensor<2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %296 = stablehlo.broadcast_in_dim %295, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x8xf32>
    %297 = stablehlo.multiply %38, %296 : tensor<2x6x8xf32>
    %298 = stablehlo.add %291, %297 : tensor<2x6x8xf32>
    %299 = stablehlo.multiply %296, %38 : tensor<2x6x8xf32>
    %300 = stablehlo.add %298, %299 : tensor<2x6x8xf32>
    %301 = stablehlo.negate %300 : tensor<2x6x8xf32>
    %cst_69 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %302 = stablehlo.reduce(%301 init: %cst_69) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %303 = stablehlo.reshape %302 : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %304 = stablehlo.add %276, %300 : tensor<2x6x8xf32>
    %cst_70 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %305 = stablehlo.broadcast_in_dim %cst_70, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %306 = stablehlo.divide %303, %305 : tensor<2x6x1xf32>
    %cst_71 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %307 = stablehlo.reduce(%306 init: %cst_71) applies stablehlo.add across dimensions = [2] : (tensor<2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %308 = stablehlo.broadcast_in_dim %307, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x8xf32>
    %309 = stablehlo.add %304, %308 : tensor<2x6x8xf32>
    %310 = stablehlo.dot_general %244, %31, contracting_dims = [0, 1] x [0, 1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<8x8xf32>
    %311 = stablehlo.transpose %310, dims = [1, 0] : (tensor<8x8xf32>) -> tensor<8x8xf32>
    %312 = stablehlo.dot_general %244, %arg7, contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
    %313 = stablehlo.multiply %28, %312 : tensor<2x6x8xf32>
    %cst_72 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %314 = stablehlo.reduce(%313 init: %cst_72) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<8xf32>
    %315 = stablehlo.reshape %314 : (tensor<8xf32>) -> tensor<1x1x8xf32>
    %316 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<1x1x8xf32>) -> tensor<2x6x8xf32>
    %317 = stablehlo.multiply %312, %316 : tensor<2x6x8xf32>
    %cst_73 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %318 = stablehlo.reduce(%315 init: %cst_73) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x1x8xf32>, tensor<f32>) -> tensor<8xf32>
    %319 = stablehlo.add %286, %318 : tensor<8xf32>
    %320 = stablehlo.multiply %15, %317 : tensor<2x6x8xf32>
    %cst_74 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %321 = stablehlo.reduce(%320 init: %cst_74) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %322 = stablehlo.reshape %321 : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %323 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x8xf32>
    %324 = stablehlo.multiply %317, %323 : tensor<2x6x8xf32>
    %325 = stablehlo.multiply %322, %26 : tensor<2x6x1xf32>
    %cst_75 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %326 = stablehlo.broadcast_in_dim %cst_75, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %327 = stablehlo.divide %325, %326 : tensor<2x6x1xf32>
    %cst_76 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %328 = stablehlo.reduce(%327 init: %cst_76) applies stablehlo.add across dimensions = [2] : (tensor<2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %329 = stablehlo.broadcast_in_dim %328, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x8xf32>
    %330 = stablehlo.multiply %15, %329 : tensor<2x6x8xf32>
    %331 = stablehlo.add %324, %330 : tensor<2x6x8xf32>
    %332 = stablehlo.multiply %329, %15 : tensor<2x6x8xf32>
    %333 = stablehlo.add %331, %332 : tensor<2x6x8xf32>
    %334 = stablehlo.negate %333 : tensor<2x6x8xf32>
    %cst_77 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %335 = stablehlo.reduce(%334 init: %cst_77) applies stablehlo.add across dimensions = [2] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<2x6xf32>
    %336 = stablehlo.reshape %335 : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %337 = stablehlo.add %309, %333 : tensor<2x6x8xf32>
    %cst_78 = stablehlo.constant dense<8.000000e+00> : tensor<f32>
    %338 = stablehlo.broadcast_in_dim %cst_78, dims = [] : (tensor<f32>) -> tensor<2x6x1xf32>
    %339 = stablehlo.divide %336, %338 : tensor<2x6x1xf32>
    %cst_79 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %340 = stablehlo.reduce(%339 init: %cst_79) applies stablehlo.add across dimensions = [2] : (tensor<2x6x1xf32>, tensor<f32>) -> tensor<2x6xf32>
    %341 = stablehlo.broadcast_in_dim %340, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x8xf32>
    %342 = stablehlo.add %337, %341 : tensor<2x6x8xf32>
    %cst_80 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %343 = stablehlo.reduce(%342 init: %cst_80) applies stablehlo.add across dimensions = [0] : (tensor<2x6x8xf32>, tensor<f32>) -> tensor<6x8xf32>
    %344 = stablehlo.reshape %343 : (tensor<6x8xf32>) -> tensor<1x6x8xf32>
    %cst_81 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %345 = stablehlo.reduce(%344 init: %cst_81) applies stablehlo.add across dimensions = [0] : (tensor<1x6x8xf32>, tensor<f32>) -> tensor<6x8xf32>
    %cst_82 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %346 = stablehlo.broadcast_in_dim %cst_82, dims = [] : (tensor<f32>) -> tensor<11x8xf32>
    %347 = "stablehlo.scatter"(%346, %5, %342) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg22: tensor<f32>, %arg23: tensor<f32>):
      %409 = stablehlo.add %arg22, %arg23 : tensor<f32>
      stablehlo.return %409 : tensor<f32>
    }) : (tensor<11x8xf32>, tensor<2x6x1xi32>, tensor<2x6x8xf32>) -> tensor<11x8xf32>
    %348 = stablehlo.add %165, %347 : tensor<11x8xf32>
    %cst_83 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %349 = stablehlo.broadcast_in_dim %cst_83, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %350 = stablehlo.multiply %349, %arg10 : tensor<16x8xf32>
    %351 = stablehlo.add %350, %167 : tensor<16x8xf32>
    %cst_84 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %352 = stablehlo.broadcast_in_dim %cst_84, dims = [] : (tensor<f32>) -> tensor<11x8xf32>
    %353 = stablehlo.multiply %352, %arg11 : tensor<11x8xf32>
    %354 = stablehlo.add %353, %348 : tensor<11x8xf32>
    %cst_85 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %355 = stablehlo.broadcast_in_dim %cst_85, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %356 = stablehlo.multiply %355, %arg12 : tensor<8x8xf32>
    %357 = stablehlo.add %356, %278 : tensor<8x8xf32>
    %cst_86 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %358 = stablehlo.broadcast_in_dim %cst_86, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %359 = stablehlo.multiply %358, %arg13 : tensor<8xf32>
    %360 = stablehlo.add %359, %319 : tensor<8xf32>
    %cst_87 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %361 = stablehlo.broadcast_in_dim %cst_87, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %362 = stablehlo.multiply %361, %arg14 : tensor<8xf32>
    %363 = stablehlo.add %362, %188 : tensor<8xf32>
    %cst_88 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %364 = stablehlo.broadcast_in_dim %cst_88, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %365 = stablehlo.multiply %364, %arg15 : tensor<8x8xf32>
    %366 = stablehlo.add %365, %216 : tensor<8x8xf32>
    %cst_89 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %367 = stablehlo.broadcast_in_dim %cst_89, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %368 = stablehlo.multiply %367, %arg16 : tensor<6x8xf32>
    %369 = stablehlo.add %368, %345 : tensor<6x8xf32>
    %cst_90 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %370 = stablehlo.broadcast_in_dim %cst_90, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %371 = stablehlo.multiply %370, %arg17 : tensor<8x8xf32>
    %372 = stablehlo.add %371, %311 : tensor<8x8xf32>
    %cst_91 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %373 = stablehlo.broadcast_in_dim %cst_91, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %374 = stablehlo.multiply %373, %arg18 : tensor<8x16xf32>
    %375 = stablehlo.add %374, %181 : tensor<8x16xf32>
    %cst_92 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %376 = stablehlo.broadcast_in_dim %cst_92, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %377 = stablehlo.multiply %376, %arg19 : tensor<8x8xf32>
    %378 = stablehlo.add %377, %246 : tensor<8x8xf32>
    %cst_93 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %379 = stablehlo.broadcast_in_dim %cst_93, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %380 = stablehlo.multiply %379, %351 : tensor<16x8xf32>
    %381 = stablehlo.subtract %arg0, %380 : tensor<16x8xf32>
    %cst_94 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %382 = stablehlo.broadcast_in_dim %cst_94, dims = [] : (tensor<f32>) -> tensor<11x8xf32>
    %383 = stablehlo.multiply %382, %354 : tensor<11x8xf32>
    %384 = stablehlo.subtract %arg1, %383 : tensor<11x8xf32>
    %cst_95 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %385 = stablehlo.broadcast_in_dim %cst_95, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %386 = stablehlo.multiply %385, %357 : tensor<8x8xf32>
    %387 = stablehlo.subtract %arg2, %386 : tensor<8x8xf32>
    %cst_96 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %388 = stablehlo.broadcast_in_dim %cst_96, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %389 = stablehlo.multiply %388, %360 : tensor<8xf32>
    %390 = stablehlo.subtract %arg3, %389 : tensor<8xf32>
    %cst_97 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %391 = stablehlo.broadcast_in_dim %cst_97, dims = [] : (tensor<f32>) -> tensor<8xf32>
    %392 = stablehlo.multiply %391, %363 : tensor<8xf32>
    %393 = stablehlo.subtract %arg4, %392 : tensor<8xf32>
    %cst_98 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %394 = stablehlo.broadcast_in_dim %cst_98, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %395 = stablehlo.multiply %394, %366 : tensor<8x8xf32>
    %396 = stablehlo.subtract %arg5, %395 : tensor<8x8xf32>
    %cst_99 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %397 = stablehlo.broadcast_in_dim %cst_99, dims = [] : (tensor<f32>) -> tensor<6x8xf32>
    %398 = stablehlo.multiply %397, %369 : tensor<6x8xf32>
    %399 = stablehlo.subtract %arg6, %398 : tensor<6x8xf32>
    %cst_100 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %400 = stablehlo.broadcast_in_dim %cst_100, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %401 = stablehlo.multiply %400, %372 : tensor<8x8xf32>
    %402 = stablehlo.subtract %arg7, %401 : tensor<8x8xf32>
    %cst_101 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %403 = stablehlo.broadcast_in_dim %cst_101, dims = [] : (tensor<f32>) -> tensor<8x16xf32>
    %404 = stablehlo.multiply %403, %375 : tensor<8x16xf32>
    %405 = stablehlo.subtract %arg8, %404 : tensor<8x16xf32>
    %cst_102 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %406 = stablehlo.broadcast_in_dim %cst_102, dims = [] : (tensor<f32>) -> tensor<8x8xf32>
    %407 = stablehlo.multiply %406, %378 : tensor<8x8xf32>
    %408 = stablehlo.subtract %arg9, %407 : tensor<8x8xf32>
    return %155, %381, %384, %387, %390, %393, %396, %399, %402, %405, %408, %351, %354, %357, %360, %363, %366, %369, %372, %375, %378 : tensor<f32>, tensor<16x8xf32>, tensor<11x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<6x8xf32>, tensor<8x8xf32>, tensor<8x16xf32>, tensor<8x8xf32>, tensor<16x8xf32>, tensor<11x8xf32>, tensor<8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8x8xf32>, tensor<6x8xf32>, tensor<8x8xf32>, tensor<8x16xf32>, tensor<8x8xf32>
  }
  func.func private @tril(%arg0: tensor<6x6xi1>) -> tensor<6x6xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %2 = stablehlo.add %0, %1 : tensor<6x6xi32>
    %3 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<6x6xi1>, tensor<6x6xi1>
    return %6 : tensor<6x6xi1>
  }
  func.func private @_where(%arg0: tensor<6x6xi1>, %arg1: tensor<2x2x6x6xf32>, %arg2: tensor<f32>) -> (tensor<2x2x6x6xf32>, tensor<2x2x6x6xi1>) {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<2x2x6x6xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x2x6x6xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x2x6x6xi1>, tensor<2x2x6x6xf32>
    return %3, %1 : tensor<2x2x6x6xf32>, tensor<2x2x6x6xi1>
  }
  func.func private @_bernoulli(%arg0: tensor<2xui32>, %arg1: tensor<f32>) -> tensor<2x6x8xi1> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %0 = call @_uniform(%arg0, %cst, %cst_0) : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<2x6x8xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<2x6x8xf32>
    %2 = stablehlo.compare LT, %0, %1, FLOAT : (tensor<2x6x8xf32>, tensor<2x6x8xf32>) -> tensor<2x6x8xi1>
    return %2 : tensor<2x6x8xi1>
  }
  func.func private @_uniform(%arg0: tensor<2xui32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<2x6x8xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.convert %arg2 : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x1x1xf32>
    %4 = stablehlo.slice %arg0 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %5 = stablehlo.reshape %4 : (tensor<1xui32>) -> tensor<ui32>
    %6 = stablehlo.slice %arg0 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %7 = stablehlo.reshape %6 : (tensor<1xui32>) -> tensor<ui32>
    %8 = stablehlo.iota dim = 0 : tensor<2x6x8xui64>
    %9 = stablehlo.iota dim = 1 : tensor<2x6x8xui64>
    %10 = stablehlo.iota dim = 2 : tensor<2x6x8xui64>
    %c = stablehlo.constant dense<48> : tensor<ui64>
    %11 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<2x6x8xui64>
    %12 = stablehlo.multiply %11, %8 : tensor<2x6x8xui64>
    %c_0 = stablehlo.constant dense<8> : tensor<ui64>
    %13 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui64>) -> tensor<2x6x8xui64>
    %14 = stablehlo.multiply %13, %9 : tensor<2x6x8xui64>
    %c_1 = stablehlo.constant dense<1> : tensor<ui64>
    %15 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui64>) -> tensor<2x6x8xui64>
    %16 = stablehlo.multiply %15, %10 : tensor<2x6x8xui64>
    %17 = stablehlo.add %12, %14 : tensor<2x6x8xui64>
    %18 = stablehlo.add %17, %16 : tensor<2x6x8xui64>
    %c_2 = stablehlo.constant dense<32> : tensor<ui64>
    %19 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui64>) -> tensor<2x6x8xui64>
    %20 = stablehlo.shift_right_logical %18, %19 : tensor<2x6x8xui64>
    %21 = stablehlo.convert %18 : (tensor<2x6x8xui64>) -> tensor<2x6x8xui32>
    %22 = stablehlo.convert %20 : (tensor<2x6x8xui64>) -> tensor<2x6x8xui32>
    %23:2 = call @threefry2x32(%5, %7, %22, %21) : (tensor<ui32>, tensor<ui32>, tensor<2x6x8xui32>, tensor<2x6x8xui32>) -> (tensor<2x6x8xui32>, tensor<2x6x8xui32>)
    %24 = stablehlo.xor %23#0, %23#1 : tensor<2x6x8xui32>
    %c_3 = stablehlo.constant dense<9> : tensor<ui32>
    %25 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui32>) -> tensor<2x6x8xui32>
    %26 = stablehlo.shift_right_logical %24, %25 : tensor<2x6x8xui32>
    %c_4 = stablehlo.constant dense<1065353216> : tensor<ui32>
    %27 = stablehlo.broadcast_in_dim %c_4, dims = [] : (tensor<ui32>) -> tensor<2x6x8xui32>
    %28 = stablehlo.or %26, %27 : tensor<2x6x8xui32>
    %29 = stablehlo.bitcast_convert %28 : (tensor<2x6x8xui32>) -> tensor<2x6x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x6x8xf32>
    %31 = stablehlo.subtract %29, %30 : tensor<2x6x8xf32>
    %32 = stablehlo.subtract %3, %2 : tensor<1x1x1xf32>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<2x6x8xf32>
    %34 = stablehlo.multiply %31, %33 : tensor<2x6x8xf32>
    %35 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<2x6x8xf32>
    %36 = stablehlo.add %34, %35 : tensor<2x6x8xf32>
    %37 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<1x1x1xf32>) -> tensor<2x6x8xf32>
    %38 = stablehlo.maximum %37, %36 : tensor<2x6x8xf32>
    return %38 : tensor<2x6x8xf32>
  }
  func.func private @threefry2x32(%arg0: tensor<ui32>, %arg1: tensor<ui32>, %arg2: tensor<2x6x8xui32>, %arg3: tensor<2x6x8xui32>) -> (tensor<2x6x8xui32>, tensor<2x6x8xui32>) {
    %c = stablehlo.constant dense<[13, 15, 26, 6]> : tensor<4xui32>
    %c_0 = stablehlo.constant dense<[17, 29, 16, 24]> : tensor<4xui32>
    %0 = stablehlo.xor %arg0, %arg1 : tensor<ui32>
    %c_1 = stablehlo.constant dense<466688986> : tensor<ui32>
    %1 = stablehlo.xor %0, %c_1 : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<2x6x8xui32>
    %3 = stablehlo.add %arg2, %2 : tensor<2x6x8xui32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<2x6x8xui32>
    %5 = stablehlo.add %arg3, %4 : tensor<2x6x8xui32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %6:9 = stablehlo.while(%iterArg = %c_3, %iterArg_4 = %c_2, %iterArg_5 = %3, %iterArg_6 = %5, %iterArg_7 = %arg1, %iterArg_8 = %1, %iterArg_9 = %arg0, %iterArg_10 = %c, %iterArg_11 = %c_0) : tensor<i32>, tensor<i32>, tensor<2x6x8xui32>, tensor<2x6x8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    cond {
      %c_12 = stablehlo.constant dense<5> : tensor<i32>
      %7 = stablehlo.compare LT, %iterArg, %c_12, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7:8 = func.call @closed_call(%iterArg_4, %iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11) : (tensor<i32>, tensor<2x6x8xui32>, tensor<2x6x8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<2x6x8xui32>, tensor<2x6x8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %c_12 = stablehlo.constant dense<1> : tensor<i32>
      %8 = stablehlo.add %iterArg, %c_12 : tensor<i32>
      stablehlo.return %8, %7#0, %7#1, %7#2, %7#3, %7#4, %7#5, %7#6, %7#7 : tensor<i32>, tensor<i32>, tensor<2x6x8xui32>, tensor<2x6x8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    }
    return %6#2, %6#3 : tensor<2x6x8xui32>, tensor<2x6x8xui32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<2x6x8xui32>, %arg2: tensor<2x6x8xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>) -> (tensor<i32>, tensor<2x6x8xui32>, tensor<2x6x8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c : tensor<i32>
    %1 = stablehlo.slice %arg6 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %2 = stablehlo.reshape %1 : (tensor<1xui32>) -> tensor<ui32>
    %3 = stablehlo.add %arg1, %arg2 : tensor<2x6x8xui32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui32>) -> tensor<2x6x8xui32>
    %5 = stablehlo.shift_left %arg2, %4 : tensor<2x6x8xui32>
    %c_0 = stablehlo.constant dense<32> : tensor<ui32>
    %6 = stablehlo.subtract %c_0, %2 : tensor<ui32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<ui32>) -> tensor<2x6x8xui32>
    %8 = stablehlo.shift_right_logical %arg2, %7 : tensor<2x6x8xui32>
    %9 = stablehlo.or %5, %8 : tensor<2x6x8xui32>
    %10 = stablehlo.xor %3, %9 : tensor<2x6x8xui32>
    %11 = stablehlo.slice %arg6 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
    %12 = stablehlo.reshape %11 : (tensor<1xui32>) -> tensor<ui32>
    %13 = stablehlo.add %3, %10 : tensor<2x6x8xui32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<ui32>) -> tensor<2x6x8xui32>
    %15 = stablehlo.shift_left %10, %14 : tensor<2x6x8xui32>
    %c_1 = stablehlo.constant dense<32> : tensor<ui32>
    %16 = stablehlo.subtract %c_1, %12 : tensor<ui32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<ui32>) -> tensor<2x6x8xui32>
    %18 = stablehlo.shift_right_logical %10, %17 : tensor<2x6x8xui32>
    %19 = stablehlo.or %15, %18 : tensor<2x6x8xui32>
    %20 = stablehlo.xor %13, %19 : tensor<2x6x8xui32>
    %21 = stablehlo.slice %arg6 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
    %22 = stablehlo.reshape %21 : (tensor<1xui32>) -> tensor<ui32>
    %23 = stablehlo.add %13, %20 : tensor<2x6x8xui32>
    %24 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<ui32>) -> tensor<2x6x8xui32>
    %25 = stablehlo.shift_left %20, %24 : tensor<2x6x8xui32>
    %c_2 = stablehlo.constant dense<32> : tensor<ui32>
    %26 = stablehlo.subtract %c_2, %22 : tensor<ui32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<ui32>) -> tensor<2x6x8xui32>
    %28 = stablehlo.shift_right_logical %20, %27 : tensor<2x6x8xui32>
    %29 = stablehlo.or %25, %28 : tensor<2x6x8xui32>
    %30 = stablehlo.xor %23, %29 : tensor<2x6x8xui32>
    %31 = stablehlo.slice %arg6 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
    %32 = stablehlo.reshape %31 : (tensor<1xui32>) -> tensor<ui32>
    %33 = stablehlo.add %23, %30 : tensor<2x6x8xui32>
    %34 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<ui32>) -> tensor<2x6x8xui32>
    %35 = stablehlo.shift_left %30, %34 : tensor<2x6x8xui32>
    %c_3 = stablehlo.constant dense<32> : tensor<ui32>
    %36 = stablehlo.subtract %c_3, %32 : tensor<ui32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<ui32>) -> tensor<2x6x8xui32>
    %38 = stablehlo.shift_right_logical %30, %37 : tensor<2x6x8xui32>
    %39 = stablehlo.or %35, %38 : tensor<2x6x8xui32>
    %40 = stablehlo.xor %33, %39 : tensor<2x6x8xui32>
    %41 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<2x6x8xui32>
    %42 = stablehlo.add %33, %41 : tensor<2x6x8xui32>
    %43 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<ui32>) -> tensor<2x6x8xui32>
    %44 = stablehlo.add %40, %43 : tensor<2x6x8xui32>
    %c_4 = stablehlo.constant dense<1> : tensor<i32>
    %45 = stablehlo.add %arg0, %c_4 : tensor<i32>
    %46 = stablehlo.convert %45 : (tensor<i32>) -> tensor<ui32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<ui32>) -> tensor<2x6x8xui32>
    %48 = stablehlo.add %44, %47 : tensor<2x6x8xui32>
    return %0, %42, %48, %arg4, %arg5, %arg3, %arg7, %arg6 : tensor<i32>, tensor<2x6x8xui32>, tensor<2x6x8xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
  }
  func.func private @_where_0(%arg0: tensor<2x6x8xi1>, %arg1: tensor<2x6x8xf32>, %arg2: tensor<i32>) -> tensor<2x6x8xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x6x8xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<2x6x8xi1>, tensor<2x6x8xf32>
    return %2 : tensor<2x6x8xf32>
  }
  func.func private @log_softmax(%arg0: tensor<2x5x11xf32>) -> (tensor<2x5x11xf32>, tensor<2x5x11xf32>, tensor<2x5x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [2] : (tensor<2x5x11xf32>, tensor<f32>) -> tensor<2x5xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<2x5xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<2x5xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x11xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<2x5x11xf32>
    %6 = stablehlo.exponential %5 : tensor<2x5x11xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [2] : (tensor<2x5x11xf32>, tensor<f32>) -> tensor<2x5xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %9 = stablehlo.log %8 : tensor<2x5x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1, 2] : (tensor<2x5x1xf32>) -> tensor<2x5x11xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<2x5x11xf32>
    return %11, %6, %8 : tensor<2x5x11xf32>, tensor<2x5x11xf32>, tensor<2x5x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<2x5x11xf32>, %arg1: tensor<2x5x1xi32>) -> (tensor<2x5x1xf32>, tensor<2x5x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x5x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<2x5x1xi32>, tensor<2x5x1xi32>) -> tensor<2x5x1xi1>
    %c_0 = stablehlo.constant dense<11> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2x5x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<2x5x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<2x5x1xi1>, tensor<2x5x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<2x5x1xi32>) -> tensor<2x5x1x1xi32>
    %c_1 = stablehlo.constant dense<10> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<2x5x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<2x5x1x1xi32>, tensor<2x5x1x1xi32>) -> tensor<2x5x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [3] : (tensor<1xi32>) -> tensor<1x1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2, 3] : (tensor<1x1x1x1xi32>) -> tensor<2x5x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<2x5x1x1xi32>, tensor<2x5x1x1xi32>) -> tensor<2x5x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<2x5x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [3] : (tensor<2x5x1x1xi1>, tensor<i1>) -> tensor<2x5x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 3>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x5x11xf32>, tensor<2x5x1x1xi32>) -> tensor<2x5x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<2x5x1xi1>, tensor<2x5x1xf32>
    return %15, %5 : tensor<2x5x1xf32>, tensor<2x5x1x1xi32>
  }
  func.func private @take_along_axis_1(%arg0: tensor<2x5x1x1xi32>, %arg1: tensor<2x5x1xf32>) -> tensor<2x5x11xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x5x11xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [0, 1], scatter_dims_to_operand_dims = [2], index_vector_dim = 3>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2x5x11xf32>, tensor<2x5x1x1xi32>, tensor<2x5x1xf32>) -> tensor<2x5x11xf32>
    return %1 : tensor<2x5x11xf32>
  }
  func.func private @log_softmax_2(%arg0: tensor<2x5x11xf32>, %arg1: tensor<2x5x1xf32>, %arg2: tensor<2x5x11xf32>) -> tensor<2x5x11xf32> {
    %0 = stablehlo.negate %arg2 : tensor<2x5x11xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [2] : (tensor<2x5x11xf32>, tensor<f32>) -> tensor<2x5xf32>
    %2 = stablehlo.reshape %1 : (tensor<2x5xf32>) -> tensor<2x5x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<2x5x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [2] : (tensor<2x5x1xf32>, tensor<f32>) -> tensor<2x5xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x5xf32>) -> tensor<2x5x11xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<2x5x11xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<2x5x11xf32>
    return %7 : tensor<2x5x11xf32>
  }
  func.func private @_where_3(%arg0: tensor<2x6x8xi1>, %arg1: tensor<2x6x8xf32>) -> tensor<2x6x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x6x8xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x6x8xi1>, tensor<2x6x8xf32>
    return %1 : tensor<2x6x8xf32>
  }
  func.func private @_where_4(%arg0: tensor<2x2x6x6xi1>, %arg1: tensor<2x2x6x6xf32>) -> tensor<2x2x6x6xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x6x6xf32>
    %1 = stablehlo.select %arg0, %arg1, %0 : tensor<2x2x6x6xi1>, tensor<2x2x6x6xf32>
    return %1 : tensor<2x2x6x6xf32>
  }
}
