module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xf32>, %arg1: tensor<24x4xf32>, %arg2: tensor<3x3x1x6xf32>, %arg3: tensor<3x3x2x6xf32>, %arg4: tensor<6xf32>, %arg5: tensor<24x4xf32>, %arg6: tensor<3x3x1x6xf32>, %arg7: tensor<3x3x2x6xf32>, %arg8: tensor<3x8x8x2xf32>, %arg9: tensor<3xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<6xf32> {jax.result_info = "result[1]['bias']"}, tensor<24x4xf32> {jax.result_info = "result[1]['dense']"}, tensor<3x3x1x6xf32> {jax.result_info = "result[1]['depthwise']"}, tensor<3x3x2x6xf32> {jax.result_info = "result[1]['strided']"}, tensor<6xf32> {jax.result_info = "result[2]['bias']"}, tensor<24x4xf32> {jax.result_info = "result[2]['dense']"}, tensor<3x3x1x6xf32> {jax.result_info = "result[2]['depthwise']"}, tensor<3x3x2x6xf32> {jax.result_info = "result[2]['strided']"}) {
    %0 = stablehlo.convolution(%arg8, %arg3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x8x8x2xf32>, tensor<3x3x2x6xf32>) -> tensor<3x4x4x6xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [3] : (tensor<6xf32>) -> tensor<1x1x1x6xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1, 2, 3] : (tensor<1x1x1x6xf32>) -> tensor<3x4x4x6xf32>
    %3 = stablehlo.add %0, %2 : tensor<3x4x4x6xf32>
    %4 = call @relu(%3) : (tensor<3x4x4x6xf32>) -> tensor<3x4x4x6xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4x4x6xf32>
    %6 = stablehlo.compare GT, %3, %5, FLOAT : (tensor<3x4x4x6xf32>, tensor<3x4x4x6xf32>) -> tensor<3x4x4x6xi1>
    %7 = stablehlo.convolution(%4, %arg2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 6 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x4x4x6xf32>, tensor<3x3x1x6xf32>) -> tensor<3x4x4x6xf32>
    %8 = call @relu(%7) : (tensor<3x4x4x6xf32>) -> tensor<3x4x4x6xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x4x4x6xf32>
    %10 = stablehlo.compare GT, %7, %9, FLOAT : (tensor<3x4x4x6xf32>, tensor<3x4x4x6xf32>) -> tensor<3x4x4x6xi1>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<f32>
    %12 = "stablehlo.reduce_window"(%8, %11) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %71 = stablehlo.maximum %arg10, %arg11 : tensor<f32>
      stablehlo.return %71 : tensor<f32>
    }) : (tensor<3x4x4x6xf32>, tensor<f32>) -> tensor<3x2x2x6xf32>
    %13 = stablehlo.reshape %12 : (tensor<3x2x2x6xf32>) -> tensor<3x24xf32>
    %14 = stablehlo.dot_general %13, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x24xf32>, tensor<24x4xf32>) -> tensor<3x4xf32>
    %15:3 = call @log_softmax(%14) : (tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x1xf32>)
    %16 = stablehlo.broadcast_in_dim %arg9, dims = [0] : (tensor<3xi32>) -> tensor<3x1xi32>
    %17:2 = call @take_along_axis(%15#0, %16) : (tensor<3x4xf32>, tensor<3x1xi32>) -> (tensor<3x1xf32>, tensor<3x1x1xi32>)
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %18 = stablehlo.reduce(%17#0 init: %cst_2) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_3 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %19 = stablehlo.divide %18, %cst_3 : tensor<f32>
    %20 = stablehlo.negate %19 : tensor<f32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %21 = stablehlo.negate %cst_4 : tensor<f32>
    %cst_5 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %22 = stablehlo.divide %21, %cst_5 : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
    %24 = call @take_along_axis_0(%17#1, %23) : (tensor<3x1x1xi32>, tensor<3x1xf32>) -> tensor<3x4xf32>
    %25 = call @log_softmax_1(%15#1, %15#2, %24) : (tensor<3x4xf32>, tensor<3x1xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    %26 = stablehlo.dot_general %25, %13, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<3x24xf32>) -> tensor<4x24xf32>
    %27 = stablehlo.transpose %26, dims = [1, 0] : (tensor<4x24xf32>) -> tensor<24x4xf32>
    %28 = stablehlo.dot_general %25, %arg1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<3x4xf32>, tensor<24x4xf32>) -> tensor<3x24xf32>
    %29 = stablehlo.reshape %28 : (tensor<3x24xf32>) -> tensor<3x2x2x6xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %30 = stablehlo.pad %8, %cst_6, low = [0, 0, 0, 0], high = [0, 0, 0, 0], interior = [0, 0, 0, 0] : (tensor<3x4x4x6xf32>, tensor<f32>) -> tensor<3x4x4x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = "stablehlo.select_and_scatter"(%30, %29, %cst_7) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %71 = stablehlo.compare GE, %arg10, %arg11, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %71 : tensor<i1>
    }, {
    ^bb0(%arg10: tensor<f32>, %arg11: tensor<f32>):
      %71 = stablehlo.add %arg10, %arg11 : tensor<f32>
      stablehlo.return %71 : tensor<f32>
    }) : (tensor<3x4x4x6xf32>, tensor<3x2x2x6xf32>, tensor<f32>) -> tensor<3x4x4x6xf32>
    %32 = stablehlo.slice %31 [0:3, 0:4, 0:4, 0:6] : (tensor<3x4x4x6xf32>) -> tensor<3x4x4x6xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<3x4x4x6xf32>
    %34 = stablehlo.select %10, %32, %33 : tensor<3x4x4x6xi1>, tensor<3x4x4x6xf32>
    %35 = stablehlo.convolution(%4, %34) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 6 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x4x4x6xf32>, tensor<3x4x4x6xf32>) -> tensor<3x3x1x6xf32>
    %36 = stablehlo.reshape %arg2 : (tensor<3x3x1x6xf32>) -> tensor<3x3x1x6x1xf32>
    %37 = stablehlo.transpose %36, dims = [0, 1, 3, 2, 4] : (tensor<3x3x1x6x1xf32>) -> tensor<3x3x6x1x1xf32>
    %38 = stablehlo.reshape %37 : (tensor<3x3x6x1x1xf32>) -> tensor<3x3x6x1xf32>
    %39 = stablehlo.reverse %38, dims = [0, 1] : tensor<3x3x6x1xf32>
    %40 = stablehlo.convolution(%34, %39) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 6 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x4x4x6xf32>, tensor<3x3x6x1xf32>) -> tensor<3x4x4x6xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<3x4x4x6xf32>
    %42 = stablehlo.select %6, %40, %41 : tensor<3x4x4x6xi1>, tensor<3x4x4x6xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.reduce(%42 init: %cst_10) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<3x4x4x6xf32>, tensor<f32>) -> tensor<6xf32>
    %44 = stablehlo.reshape %43 : (tensor<6xf32>) -> tensor<1x1x1x6xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %45 = stablehlo.reduce(%44 init: %cst_11) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x1x1x6xf32>, tensor<f32>) -> tensor<6xf32>
    %46 = stablehlo.convolution(%arg8, %42) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [1, 1], pad = [[0, 1], [0, 1]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<3x8x8x2xf32>, tensor<3x4x4x6xf32>) -> tensor<3x3x2x6xf32>
    %cst_12 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %48 = stablehlo.multiply %47, %arg4 : tensor<6xf32>
    %49 = stablehlo.add %48, %45 : tensor<6xf32>
    %cst_13 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<24x4xf32>
    %51 = stablehlo.multiply %50, %arg5 : tensor<24x4xf32>
    %52 = stablehlo.add %51, %27 : tensor<24x4xf32>
    %cst_14 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<3x3x1x6xf32>
    %54 = stablehlo.multiply %53, %arg6 : tensor<3x3x1x6xf32>
    %55 = stablehlo.add %54, %35 : tensor<3x3x1x6xf32>
    %cst_15 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<3x3x2x6xf32>
    %57 = stablehlo.multiply %56, %arg7 : tensor<3x3x2x6xf32>
    %58 = stablehlo.add %57, %46 : tensor<3x3x2x6xf32>
    %cst_16 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %59 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<6xf32>
    %60 = stablehlo.multiply %59, %49 : tensor<6xf32>
    %61 = stablehlo.subtract %arg0, %60 : tensor<6xf32>
    %cst_17 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %62 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<24x4xf32>
    %63 = stablehlo.multiply %62, %52 : tensor<24x4xf32>
    %64 = stablehlo.subtract %arg1, %63 : tensor<24x4xf32>
    %cst_18 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %65 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<3x3x1x6xf32>
    %66 = stablehlo.multiply %65, %55 : tensor<3x3x1x6xf32>
    %67 = stablehlo.subtract %arg2, %66 : tensor<3x3x1x6xf32>
    %cst_19 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<3x3x2x6xf32>
    %69 = stablehlo.multiply %68, %58 : tensor<3x3x2x6xf32>
    %70 = stablehlo.subtract %arg3, %69 : tensor<3x3x2x6xf32>
    return %20, %61, %64, %67, %70, %49, %52, %55, %58 : tensor<f32>, tensor<6xf32>, tensor<24x4xf32>, tensor<3x3x1x6xf32>, tensor<3x3x2x6xf32>, tensor<6xf32>, tensor<24x4xf32>, tensor<3x3x1x6xf32>, tensor<3x3x2x6xf32>
  }
  func.func private @relu(%arg0: tensor<3x4x4x6xf32>) -> tensor<3x4x4x6xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4x4x6xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<3x4x4x6xf32>
    return %1 : tensor<3x4x4x6xf32>
  }
  func.func private @log_softmax(%arg0: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<3xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x4xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<3x4xf32>
    %6 = stablehlo.exponential %5 : tensor<3x4xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<3xf32>) -> tensor<3x1xf32>
    %9 = stablehlo.log %8 : tensor<3x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<3x1xf32>) -> tensor<3x4xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<3x4xf32>
    return %11, %6, %8 : tensor<3x4xf32>, tensor<3x4xf32>, tensor<3x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<3x4xf32>, %arg1: tensor<3x1xi32>) -> (tensor<3x1xf32>, tensor<3x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<3x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<3x1xi32>, tensor<3x1xi32>) -> tensor<3x1xi1>
    %c_0 = stablehlo.constant dense<4> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<3x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<3x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<3x1xi1>, tensor<3x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<3x1xi32>) -> tensor<3x1x1xi32>
    %c_1 = stablehlo.constant dense<3> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<3x1x1xi32>, tensor<3x1x1xi32>) -> tensor<3x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<3x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<3x1x1xi32>, tensor<3x1x1xi32>) -> tensor<3x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<3x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<3x1x1xi1>, tensor<i1>) -> tensor<3x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<3x4xf32>, tensor<3x1x1xi32>) -> tensor<3x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<3x1xi1>, tensor<3x1xf32>
    return %15, %5 : tensor<3x1xf32>, tensor<3x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<3x1x1xi32>, %arg1: tensor<3x1xf32>) -> tensor<3x4xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x4xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<3x4xf32>, tensor<3x1x1xi32>, tensor<3x1xf32>) -> tensor<3x4xf32>
    return %1 : tensor<3x4xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<3x4xf32>, %arg1: tensor<3x1xf32>, %arg2: tensor<3x4xf32>) -> tensor<3x4xf32> {
    %0 = stablehlo.negate %arg2 : tensor<3x4xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<3x4xf32>, tensor<f32>) -> tensor<3xf32>
    %2 = stablehlo.reshape %1 : (tensor<3xf32>) -> tensor<3x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<3x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<3xf32>) -> tensor<3x4xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<3x4xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<3x4xf32>
    return %7 : tensor<3x4xf32>
  }
}
