module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<784x512xf32>, %arg1: tensor<512xf32>, %arg2: tensor<512x10xf32>, %arg3: tensor<10xf32>, %arg4: tensor<i32>, %arg5: tensor<784x512xf32>, %arg6: tensor<512xf32>, %arg7: tensor<512x10xf32>, %arg8: tensor<10xf32>, %arg9: tensor<784x512xf32>, %arg10: tensor<512xf32>, %arg11: tensor<512x10xf32>, %arg12: tensor<10xf32>, %arg13: tensor<128x784xf32>, %arg14: tensor<128xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<784x512xf32> {jax.result_info = "result[1][0][0]"}, tensor<512xf32> {jax.result_info = "result[1][0][1]"}, tensor<512x10xf32> {jax.result_info = "result[1][1][0]"}, tensor<10xf32> {jax.result_info = "result[1][1][1]"}, tensor<i32> {jax.result_info = "result[2][0]"}, tensor<784x512xf32> {jax.result_info = "result[2][1][0][0]"}, tensor<512xf32> {jax.result_info = "result[2][1][0][1]"}, tensor<512x10xf32> {jax.result_info = "result[2][1][1][0]"}, tensor<10xf32> {jax.result_info = "result[2][1][1][1]"}, tensor<784x512xf32> {jax.result_info = "result[2][2][0][0]"}, tensor<512xf32> {jax.result_info = "result[2][2][0][1]"}, tensor<512x10xf32> {jax.result_info = "result[2][2][1][0]"}, tensor<10xf32> {jax.result_info = "result[2][2][1][1]"}) {
    %0 = stablehlo.dot_general %arg13, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x784xf32>, tensor<784x512xf32>) -> tensor<128x512xf32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<128x512xf32>
    %3 = stablehlo.add %0, %2 : tensor<128x512xf32>
    %4 = call @relu(%3) : (tensor<128x512xf32>) -> tensor<128x512xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %6 = stablehlo.compare GT, %3, %5, FLOAT : (tensor<128x512xf32>, tensor<128x512xf32>) -> tensor<128x512xi1>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %8 = stablehlo.dot_general %4, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x512xf32>, tensor<512x10xf32>) -> tensor<128x10xf32>
    %9 = stablehlo.broadcast_in_dim %arg3, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<1x10xf32>) -> tensor<128x10xf32>
    %11 = stablehlo.add %8, %10 : tensor<128x10xf32>
    %12:3 = call @log_softmax(%11) : (tensor<128x10xf32>) -> (tensor<128x10xf32>, tensor<128x10xf32>, tensor<128x1xf32>)
    %13 = call @_one_hot(%arg14) : (tensor<128xi32>) -> tensor<128x10xf32>
    %14 = stablehlo.multiply %13, %12#0 : tensor<128x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.reduce(%15 init: %cst_2) applies stablehlo.add across dimensions = [0] : (tensor<128xf32>, tensor<f32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %17 = stablehlo.divide %16, %cst_3 : tensor<f32>
    %18 = stablehlo.negate %17 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %19 = stablehlo.negate %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<1.280000e+02> : tensor<f32>
    %20 = stablehlo.divide %19, %cst_5 : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %22 = stablehlo.broadcast_in_dim %21, dims = [0] : (tensor<128xf32>) -> tensor<128x10xf32>
    %23 = stablehlo.multiply %13, %22 : tensor<128x10xf32>
    %24 = call @log_softmax_0(%12#1, %12#2, %23) : (tensor<128x10xf32>, tensor<128x1xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %25 = stablehlo.reduce(%24 init: %cst_6) applies stablehlo.add across dimensions = [0] : (tensor<128x10xf32>, tensor<f32>) -> tensor<10xf32>
    %26 = stablehlo.reshape %25 : (tensor<10xf32>) -> tensor<1x10xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %27 = stablehlo.reduce(%26 init: %cst_7) applies stablehlo.add across dimensions = [0] : (tensor<1x10xf32>, tensor<f32>) -> tensor<10xf32>
    %28 = stablehlo.dot_general %24, %4, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x10xf32>, tensor<128x512xf32>) -> tensor<10x512xf32>
    %29 = stablehlo.transpose %28, dims = [1, 0] : (tensor<10x512xf32>) -> tensor<512x10xf32>
    %30 = stablehlo.dot_general %24, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<128x10xf32>, tensor<512x10xf32>) -> tensor<128x512xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %32 = stablehlo.select %6, %30, %31 : tensor<128x512xi1>, tensor<128x512xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.reduce(%32 init: %cst_9) applies stablehlo.add across dimensions = [0] : (tensor<128x512xf32>, tensor<f32>) -> tensor<512xf32>
    %34 = stablehlo.reshape %33 : (tensor<512xf32>) -> tensor<1x512xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.reduce(%34 init: %cst_10) applies stablehlo.add across dimensions = [0] : (tensor<1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %36 = stablehlo.dot_general %32, %arg13, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<128x512xf32>, tensor<128x784xf32>) -> tensor<512x784xf32>
    %37 = stablehlo.transpose %36, dims = [1, 0] : (tensor<512x784xf32>) -> tensor<784x512xf32>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %38 = stablehlo.add %arg4, %c : tensor<i32>
    %cst_11 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %40 = stablehlo.multiply %39, %arg5 : tensor<784x512xf32>
    %cst_12 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %42 = stablehlo.multiply %41, %37 : tensor<784x512xf32>
    %43 = stablehlo.add %40, %42 : tensor<784x512xf32>
    %cst_13 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %45 = stablehlo.multiply %44, %arg6 : tensor<512xf32>
    %cst_14 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %47 = stablehlo.multiply %46, %35 : tensor<512xf32>
    %48 = stablehlo.add %45, %47 : tensor<512xf32>
    %cst_15 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %50 = stablehlo.multiply %49, %arg7 : tensor<512x10xf32>
    %cst_16 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %51 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %52 = stablehlo.multiply %51, %29 : tensor<512x10xf32>
    %53 = stablehlo.add %50, %52 : tensor<512x10xf32>
    %cst_17 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %54 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %55 = stablehlo.multiply %54, %arg8 : tensor<10xf32>
    %cst_18 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %57 = stablehlo.multiply %56, %27 : tensor<10xf32>
    %58 = stablehlo.add %55, %57 : tensor<10xf32>
    %cst_19 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %60 = stablehlo.multiply %59, %arg9 : tensor<784x512xf32>
    %61 = stablehlo.multiply %37, %37 : tensor<784x512xf32>
    %cst_20 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %63 = stablehlo.multiply %62, %61 : tensor<784x512xf32>
    %64 = stablehlo.add %60, %63 : tensor<784x512xf32>
    %cst_21 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %66 = stablehlo.multiply %65, %arg10 : tensor<512xf32>
    %67 = stablehlo.multiply %35, %35 : tensor<512xf32>
    %cst_22 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %69 = stablehlo.multiply %68, %67 : tensor<512xf32>
    %70 = stablehlo.add %66, %69 : tensor<512xf32>
    %cst_23 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %72 = stablehlo.multiply %71, %arg11 : tensor<512x10xf32>
    %73 = stablehlo.multiply %29, %29 : tensor<512x10xf32>
    %cst_24 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %74 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %75 = stablehlo.multiply %74, %73 : tensor<512x10xf32>
    %76 = stablehlo.add %72, %75 : tensor<512x10xf32>
    %cst_25 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %77 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %78 = stablehlo.multiply %77, %arg12 : tensor<10xf32>
    %79 = stablehlo.multiply %27, %27 : tensor<10xf32>
    %cst_26 = stablehlo.constant dense<1.000000e-03> : tensor<f32>
    %80 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %81 = stablehlo.multiply %80, %79 : tensor<10xf32>
    %82 = stablehlo.add %78, %81 : tensor<10xf32>
    %83 = stablehlo.convert %38 : (tensor<i32>) -> tensor<f32>
    %cst_27 = stablehlo.constant dense<9.990000e-01> : tensor<f32>
    %84 = stablehlo.convert %38 : (tensor<i32>) -> tensor<f32>
    %85 = stablehlo.power %cst_27, %84 : tensor<f32>
    %cst_28 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %86 = stablehlo.subtract %cst_28, %85 : tensor<f32>
    %87 = stablehlo.sqrt %86 : tensor<f32>
    %cst_29 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %88 = stablehlo.multiply %cst_29, %87 : tensor<f32>
    %89 = stablehlo.convert %38 : (tensor<i32>) -> tensor<f32>
    %cst_30 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %90 = stablehlo.convert %38 : (tensor<i32>) -> tensor<f32>
    %91 = stablehlo.power %cst_30, %90 : tensor<f32>
    %cst_31 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %92 = stablehlo.subtract %cst_31, %91 : tensor<f32>
    %93 = stablehlo.divide %88, %92 : tensor<f32>
    %94 = stablehlo.broadcast_in_dim %93, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %95 = stablehlo.multiply %94, %43 : tensor<784x512xf32>
    %96 = stablehlo.sqrt %64 : tensor<784x512xf32>
    %cst_32 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %97 = stablehlo.broadcast_in_dim %cst_32, dims = [] : (tensor<f32>) -> tensor<784x512xf32>
    %98 = stablehlo.add %96, %97 : tensor<784x512xf32>
    %99 = stablehlo.divide %95, %98 : tensor<784x512xf32>
    %100 = stablehlo.subtract %arg0, %99 : tensor<784x512xf32>
    %101 = stablehlo.broadcast_in_dim %93, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %102 = stablehlo.multiply %101, %48 : tensor<512xf32>
    %103 = stablehlo.sqrt %70 : tensor<512xf32>
    %cst_33 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %104 = stablehlo.broadcast_in_dim %cst_33, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %105 = stablehlo.add %103, %104 : tensor<512xf32>
    %106 = stablehlo.divide %102, %105 : tensor<512xf32>
    %107 = stablehlo.subtract %arg1, %106 : tensor<512xf32>
    %108 = stablehlo.broadcast_in_dim %93, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %109 = stablehlo.multiply %108, %53 : tensor<512x10xf32>
    %110 = stablehlo.sqrt %76 : tensor<512x10xf32>
    %cst_34 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %111 = stablehlo.broadcast_in_dim %cst_34, dims = [] : (tensor<f32>) -> tensor<512x10xf32>
    %112 = stablehlo.add %110, %111 : tensor<512x10xf32>
    %113 = stablehlo.divide %109, %112 : tensor<512x10xf32>
    %114 = stablehlo.subtract %arg2, %113 : tensor<512x10xf32>
    %115 = stablehlo.broadcast_in_dim %93, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %116 = stablehlo.multiply %115, %58 : tensor<10xf32>
    %117 = stablehlo.sqrt %82 : tensor<10xf32>
    %cst_35 = stablehlo.constant dense<9.99999993E-9> : tensor<f32>
    %118 = stablehlo.broadcast_in_dim %cst_35, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %119 = stablehlo.add %117, %118 : tensor<10xf32>
    %120 = stablehlo.divide %116, %119 : tensor<10xf32>
    %121 = stablehlo.subtract %arg3, %120 : tensor<10xf32>
    return %18, %100, %107, %114, %121, %38, %43, %48, %53, %58, %64, %70, %76, %82 : tensor<f32>, tensor<784x512xf32>, tensor<512xf32>, tensor<512x10xf32>, tensor<10xf32>, tensor<i32>, tensor<784x512xf32>, tensor<512xf32>, tensor<512x10xf32>, tensor<10xf32>, tensor<784x512xf32>, tensor<512xf32>, tensor<512x10xf32>, tensor<10xf32>
  }
  func.func private @relu(%arg0: tensor<128x512xf32>) -> tensor<128x512xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<128x512xf32>
    return %1 : tensor<128x512xf32>
  }
  func.func private @log_softmax(%arg0: tensor<128x10xf32>) -> (tensor<128x10xf32>, tensor<128x10xf32>, tensor<128x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<128xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<128xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<128x1xf32>) -> tensor<128x10xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<128x10xf32>
    %6 = stablehlo.exponential %5 : tensor<128x10xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<128xf32>) -> tensor<128x1xf32>
    %9 = stablehlo.log %8 : tensor<128x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<128x1xf32>) -> tensor<128x10xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<128x10xf32>
    return %11, %6, %8 : tensor<128x10xf32>, tensor<128x10xf32>, tensor<128x1xf32>
  }
  func.func private @_one_hot(%arg0: tensor<128xi32>) -> tensor<128x10xf32> {
    %0 = stablehlo.broadcast_in_dim %arg0, dims = [0] : (tensor<128xi32>) -> tensor<128x1xi32>
    %1 = stablehlo.iota dim = 1 : tensor<1x10xi32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<128x1xi32>) -> tensor<128x10xi32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x10xi32>) -> tensor<128x10xi32>
    %4 = stablehlo.compare EQ, %2, %3, SIGNED : (tensor<128x10xi32>, tensor<128x10xi32>) -> tensor<128x10xi1>
    %5 = stablehlo.convert %4 : (tensor<128x10xi1>) -> tensor<128x10xf32>
    return %5 : tensor<128x10xf32>
  }
  func.func private @log_softmax_0(%arg0: tensor<128x10xf32>, %arg1: tensor<128x1xf32>, %arg2: tensor<128x10xf32>) -> tensor<128x10xf32> {
    %0 = stablehlo.negate %arg2 : tensor<128x10xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<128x10xf32>, tensor<f32>) -> tensor<128xf32>
    %2 = stablehlo.reshape %1 : (tensor<128xf32>) -> tensor<128x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<128x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<128x1xf32>, tensor<f32>) -> tensor<128xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<128xf32>) -> tensor<128x10xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<128x10xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<128x10xf32>
    return %7 : tensor<128x10xf32>
  }
}
