module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<24xf32>, %arg1: tensor<6x24xf32>, %arg2: tensor<6x3xf32>, %arg3: tensor<5x24xf32>, %arg4: tensor<24xf32>, %arg5: tensor<6x24xf32>, %arg6: tensor<6x3xf32>, %arg7: tensor<5x24xf32>, %arg8: tensor<7x4x5xf32>, %arg9: tensor<4xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<24xf32> {jax.result_info = "result[1]['b']"}, tensor<6x24xf32> {jax.result_info = "result[1]['h']"}, tensor<6x3xf32> {jax.result_info = "result[1]['out']"}, tensor<5x24xf32> {jax.result_info = "result[1]['x']"}, tensor<24xf32> {jax.result_info = "result[2]['b']"}, tensor<6x24xf32> {jax.result_info = "result[2]['h']"}, tensor<6x3xf32> {jax.result_info = "result[2]['out']"}, tensor<5x24xf32> {jax.result_info = "result[2]['x']"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<24xf32>) -> tensor<1x24xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<7x4x6xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<7x4x6xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<7x4x6xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<7x4x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<7x4x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<7x4x6xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<7x4x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<7x4x6xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<7x4x6xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<7x4x6xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<7x4x6xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<7x4x6xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %14:19 = stablehlo.while(%iterArg = %arg8, %iterArg_29 = %arg3, %iterArg_30 = %arg1, %iterArg_31 = %1, %iterArg_32 = %c, %iterArg_33 = %0, %iterArg_34 = %0, %iterArg_35 = %2, %iterArg_36 = %3, %iterArg_37 = %4, %iterArg_38 = %5, %iterArg_39 = %6, %iterArg_40 = %7, %iterArg_41 = %8, %iterArg_42 = %9, %iterArg_43 = %10, %iterArg_44 = %11, %iterArg_45 = %12, %iterArg_46 = %13) : tensor<7x4x5xf32>, tensor<5x24xf32>, tensor<6x24xf32>, tensor<1x24xf32>, tensor<i32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>
    cond {
      %c_47 = stablehlo.constant dense<7> : tensor<i32>
      %59 = stablehlo.compare LT, %iterArg_32, %c_47, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %59 : tensor<i1>
    } do {
      %59 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_32) : (tensor<7x4x5xf32>, tensor<i32>) -> tensor<4x5xf32>
      %60:14 = func.call @closed_call(%iterArg_29, %iterArg_30, %iterArg_31, %iterArg_33, %iterArg_34, %59) : (tensor<5x24xf32>, tensor<6x24xf32>, tensor<1x24xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x5xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
      %61 = func.call @dynamic_update_index_in_dim(%iterArg_35, %60#2, %iterArg_32) : (tensor<7x4x6xf32>, tensor<4x6xf32>, tensor<i32>) -> tensor<7x4x6xf32>
      %62 = func.call @dynamic_update_index_in_dim(%iterArg_36, %60#3, %iterArg_32) : (tensor<7x4x6xf32>, tensor<4x6xf32>, tensor<i32>) -> tensor<7x4x6xf32>
      %63 = func.call @dynamic_update_index_in_dim(%iterArg_37, %60#4, %iterArg_32) : (tensor<7x4x6xf32>, tensor<4x6xf32>, tensor<i32>) -> tensor<7x4x6xf32>
      %64 = func.call @dynamic_update_index_in_dim(%iterArg_38, %60#5, %iterArg_32) : (tensor<7x4x6xf32>, tensor<4x6xf32>, tensor<i32>) -> tensor<7x4x6xf32>
      %65 = func.call @dynamic_update_index_in_dim(%iterArg_39, %60#6, %iterArg_32) : (tensor<7x4x6xf32>, tensor<4x6xf32>, tensor<i32>) -> tensor<7x4x6xf32>
      %66 = func.call @dynamic_update_index_in_dim(%iterArg_40, %60#7, %iterArg_32) : (tensor<7x4x6xf32>, tensor<4x6xf32>, tensor<i32>) -> tensor<7x4x6xf32>
      %67 = func.call @dynamic_update_index_in_dim(%iterArg_41, %60#8, %iterArg_32) : (tensor<7x4x6xf32>, tensor<4x6xf32>, tensor<i32>) -> tensor<7x4x6xf32>
      %68 = func.call @dynamic_update_index_in_dim(%iterArg_42, %60#9, %iterArg_32) : (tensor<7x4x6xf32>, tensor<4x6xf32>, tensor<i32>) -> tensor<7x4x6xf32>
      %69 = func.call @dynamic_update_index_in_dim(%iterArg_43, %60#10, %iterArg_32) : (tensor<7x4x6xf32>, tensor<4x6xf32>, tensor<i32>) -> tensor<7x4x6xf32>
      %70 = func.call @dynamic_update_index_in_dim(%iterArg_44, %60#11, %iterArg_32) : (tensor<7x4x6xf32>, tensor<4x6xf32>, tensor<i32>) -> tensor<7x4x6xf32>
      %71 = func.call @dynamic_update_index_in_dim(%iterArg_45, %60#12, %iterArg_32) : (tensor<7x4x6xf32>, tensor<4x6xf32>, tensor<i32>) -> tensor<7x4x6xf32>
      %72 = func.call @dynamic_update_index_in_dim(%iterArg_46, %60#13, %iterArg_32) : (tensor<7x4x6xf32>, tensor<4x6xf32>, tensor<i32>) -> tensor<7x4x6xf32>
      %c_47 = stablehlo.constant dense<1> : tensor<i32>
      %73 = stablehlo.add %iterArg_32, %c_47 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_29, %iterArg_30, %iterArg_31, %73, %60#0, %60#1, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72 : tensor<7x4x5xf32>, tensor<5x24xf32>, tensor<6x24xf32>, tensor<1x24xf32>, tensor<i32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>
    }
    %15 = stablehlo.dot_general %14#5, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
    %16:3 = call @log_softmax(%15) : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x1xf32>)
    %17 = stablehlo.broadcast_in_dim %arg9, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
    %18:2 = call @take_along_axis(%16#0, %17) : (tensor<4x3xf32>, tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>)
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18#0 init: %cst_12) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_13 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %20 = stablehlo.divide %19, %cst_13 : tensor<f32>
    %21 = stablehlo.negate %20 : tensor<f32>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %22 = stablehlo.negate %cst_14 : tensor<f32>
    %cst_15 = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %23 = stablehlo.divide %22, %cst_15 : tensor<f32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %25 = call @take_along_axis_0(%18#1, %24) : (tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x3xf32>
    %26 = call @log_softmax_1(%16#1, %16#2, %25) : (tensor<4x3xf32>, tensor<4x1xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    %27 = stablehlo.dot_general %26, %14#5, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x3xf32>, tensor<4x6xf32>) -> tensor<3x6xf32>
    %28 = stablehlo.transpose %27, dims = [1, 0] : (tensor<3x6xf32>) -> tensor<6x3xf32>
    %29 = stablehlo.dot_general %26, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x3xf32>, tensor<6x3xf32>) -> tensor<4x6xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %30 = stablehlo.broadcast_in_dim %cst_16, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.broadcast_in_dim %cst_17, dims = [] : (tensor<f32>) -> tensor<5x24xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<6x24xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %c_20 = stablehlo.constant dense<0> : tensor<i32>
    %34:20 = stablehlo.while(%iterArg = %arg8, %iterArg_29 = %14#7, %iterArg_30 = %14#8, %iterArg_31 = %14#9, %iterArg_32 = %14#10, %iterArg_33 = %14#11, %iterArg_34 = %14#12, %iterArg_35 = %14#13, %iterArg_36 = %14#14, %iterArg_37 = %14#15, %iterArg_38 = %14#16, %iterArg_39 = %14#17, %iterArg_40 = %14#18, %iterArg_41 = %arg1, %iterArg_42 = %c_20, %iterArg_43 = %31, %iterArg_44 = %32, %iterArg_45 = %33, %iterArg_46 = %29, %iterArg_47 = %30) : tensor<7x4x5xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<6x24xf32>, tensor<i32>, tensor<5x24xf32>, tensor<6x24xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<4x6xf32>
    cond {
      %c_48 = stablehlo.constant dense<7> : tensor<i32>
      %59 = stablehlo.compare LT, %iterArg_42, %c_48, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %59 : tensor<i1>
    } do {
      %c_48 = stablehlo.constant dense<7> : tensor<i32>
      %59 = stablehlo.subtract %c_48, %iterArg_42 : tensor<i32>
      %c_49 = stablehlo.constant dense<1> : tensor<i32>
      %60 = stablehlo.subtract %59, %c_49 : tensor<i32>
      %61 = func.call @dynamic_index_in_dim(%iterArg, %60) : (tensor<7x4x5xf32>, tensor<i32>) -> tensor<4x5xf32>
      %62 = func.call @dynamic_index_in_dim_2(%iterArg_29, %60) : (tensor<7x4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
      %63 = func.call @dynamic_index_in_dim_2(%iterArg_30, %60) : (tensor<7x4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
      %64 = func.call @dynamic_index_in_dim_2(%iterArg_31, %60) : (tensor<7x4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
      %65 = func.call @dynamic_index_in_dim_2(%iterArg_32, %60) : (tensor<7x4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
      %66 = func.call @dynamic_index_in_dim_2(%iterArg_33, %60) : (tensor<7x4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
      %67 = func.call @dynamic_index_in_dim_2(%iterArg_34, %60) : (tensor<7x4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
      %68 = func.call @dynamic_index_in_dim_2(%iterArg_35, %60) : (tensor<7x4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
      %69 = func.call @dynamic_index_in_dim_2(%iterArg_36, %60) : (tensor<7x4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
      %70 = func.call @dynamic_index_in_dim_2(%iterArg_37, %60) : (tensor<7x4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
      %71 = func.call @dynamic_index_in_dim_2(%iterArg_38, %60) : (tensor<7x4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
      %72 = func.call @dynamic_index_in_dim_2(%iterArg_39, %60) : (tensor<7x4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
      %73 = func.call @dynamic_index_in_dim_2(%iterArg_40, %60) : (tensor<7x4x6xf32>, tensor<i32>) -> tensor<4x6xf32>
      %74:5 = func.call @closed_call_3(%iterArg_41, %iterArg_43, %iterArg_44, %iterArg_45, %iterArg_46, %iterArg_47, %61, %62, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73) : (tensor<6x24xf32>, tensor<5x24xf32>, tensor<6x24xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x5xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<5x24xf32>, tensor<6x24xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
      %c_50 = stablehlo.constant dense<1> : tensor<i32>
      %75 = stablehlo.add %iterArg_42, %c_50 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_29, %iterArg_30, %iterArg_31, %iterArg_32, %iterArg_33, %iterArg_34, %iterArg_35, %iterArg_36, %iterArg_37, %iterArg_38, %iterArg_39, %iterArg_40, %iterArg_41, %75, %74#0, %74#1, %74#2, %74#3, %74#4 : tensor<7x4x5xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<7x4x6xf32>, tensor<6x24xf32>, tensor<i32>, tensor<5x24xf32>, tensor<6x24xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<4x6xf32>
    }
    %cst_21 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %36 = stablehlo.multiply %35, %arg4 : tensor<24xf32>
    %37 = stablehlo.add %36, %34#17 : tensor<24xf32>
    %cst_22 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<6x24xf32>
    %39 = stablehlo.multiply %38, %arg5 : tensor<6x24xf32>
    %40 = stablehlo.add %39, %34#16 : tensor<6x24xf32>
    %cst_23 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %41 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<6x3xf32>
    %42 = stablehlo.multiply %41, %arg6 : tensor<6x3xf32>
    %43 = stablehlo.add %42, %28 : tensor<6x3xf32>
    %cst_24 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %44 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<5x24xf32>
    %45 = stablehlo.multiply %44, %arg7 : tensor<5x24xf32>
    %46 = stablehlo.add %45, %34#15 : tensor<5x24xf32>
    %cst_25 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %47 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<24xf32>
    %48 = stablehlo.multiply %47, %37 : tensor<24xf32>
    %49 = stablehlo.subtract %arg0, %48 : tensor<24xf32>
    %cst_26 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %50 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<6x24xf32>
    %51 = stablehlo.multiply %50, %40 : tensor<6x24xf32>
    %52 = stablehlo.subtract %arg1, %51 : tensor<6x24xf32>
    %cst_27 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %53 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<6x3xf32>
    %54 = stablehlo.multiply %53, %43 : tensor<6x3xf32>
    %55 = stablehlo.subtract %arg2, %54 : tensor<6x3xf32>
    %cst_28 = stablehlo.constant dense<1.000000e-01> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<5x24xf32>
    %57 = stablehlo.multiply %56, %46 : tensor<5x24xf32>
    %58 = stablehlo.subtract %arg3, %57 : tensor<5x24xf32>
    return %21, %49, %52, %55, %58, %37, %40, %43, %46 : tensor<f32>, tensor<24xf32>, tensor<6x24xf32>, tensor<6x3xf32>, tensor<5x24xf32>, tensor<24xf32>, tensor<6x24xf32>, tensor<6x3xf32>, tensor<5x24xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<7x4x5xf32>, %arg1: tensor<i32>) -> tensor<4x5xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 4, 5] : (tensor<7x4x5xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x5xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4x5xf32>) -> tensor<4x5xf32>
    return %1 : tensor<4x5xf32>
  }
  func.func private @closed_call(%arg0: tensor<5x24xf32>, %arg1: tensor<6x24xf32>, %arg2: tensor<1x24xf32>, %arg3: tensor<4x6xf32>, %arg4: tensor<4x6xf32>, %arg5: tensor<4x5xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
    %0 = stablehlo.dot_general %arg5, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x5xf32>, tensor<5x24xf32>) -> tensor<4x24xf32>
    %1 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x6xf32>, tensor<6x24xf32>) -> tensor<4x24xf32>
    %2 = stablehlo.add %0, %1 : tensor<4x24xf32>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<1x24xf32>) -> tensor<4x24xf32>
    %4 = stablehlo.add %2, %3 : tensor<4x24xf32>
    %5 = stablehlo.slice %4 [0:4, 0:6] : (tensor<4x24xf32>) -> tensor<4x6xf32>
    %6 = stablehlo.slice %4 [0:4, 6:12] : (tensor<4x24xf32>) -> tensor<4x6xf32>
    %7 = stablehlo.slice %4 [0:4, 12:18] : (tensor<4x24xf32>) -> tensor<4x6xf32>
    %8 = stablehlo.slice %4 [0:4, 18:24] : (tensor<4x24xf32>) -> tensor<4x6xf32>
    %9 = stablehlo.negate %6 : tensor<4x6xf32>
    %10 = stablehlo.exponential %9 : tensor<4x6xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %12 = stablehlo.add %11, %10 : tensor<4x6xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %14 = stablehlo.divide %13, %12 : tensor<4x6xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %16 = stablehlo.subtract %15, %14 : tensor<4x6xf32>
    %17 = stablehlo.multiply %14, %16 : tensor<4x6xf32>
    %18 = stablehlo.multiply %14, %arg4 : tensor<4x6xf32>
    %19 = stablehlo.negate %5 : tensor<4x6xf32>
    %20 = stablehlo.exponential %19 : tensor<4x6xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %22 = stablehlo.add %21, %20 : tensor<4x6xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %24 = stablehlo.divide %23, %22 : tensor<4x6xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %26 = stablehlo.subtract %25, %24 : tensor<4x6xf32>
    %27 = stablehlo.multiply %24, %26 : tensor<4x6xf32>
    %28 = stablehlo.tanh %7 : tensor<4x6xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %30 = stablehlo.subtract %29, %28 : tensor<4x6xf32>
    %31 = stablehlo.multiply %24, %28 : tensor<4x6xf32>
    %32 = stablehlo.add %18, %31 : tensor<4x6xf32>
    %33 = stablehlo.negate %8 : tensor<4x6xf32>
    %34 = stablehlo.exponential %33 : tensor<4x6xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %36 = stablehlo.add %35, %34 : tensor<4x6xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %38 = stablehlo.divide %37, %36 : tensor<4x6xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %40 = stablehlo.subtract %39, %38 : tensor<4x6xf32>
    %41 = stablehlo.multiply %38, %40 : tensor<4x6xf32>
    %42 = stablehlo.tanh %32 : tensor<4x6xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %44 = stablehlo.subtract %43, %42 : tensor<4x6xf32>
    %45 = stablehlo.multiply %38, %42 : tensor<4x6xf32>
    return %45, %32, %arg3, %17, %arg4, %14, %27, %28, %30, %24, %41, %42, %44, %38 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<7x4x6xf32>, %arg1: tensor<4x6xf32>, %arg2: tensor<i32>) -> tensor<7x4x6xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<4x6xf32>) -> tensor<1x4x6xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<7x4x6xf32>, tensor<1x4x6xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<7x4x6xf32>
    return %1 : tensor<7x4x6xf32>
  }
  func.func private @log_softmax(%arg0: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<4xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x3xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<4x3xf32>
    %6 = stablehlo.exponential %5 : tensor<4x3xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %9 = stablehlo.log %8 : tensor<4x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x3xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<4x3xf32>
    return %11, %6, %8 : tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<4x3xf32>, %arg1: tensor<4x1xi32>) -> (tensor<4x1xf32>, tensor<4x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<4x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<4x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<4x1xi1>, tensor<4x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<4x1xi32>) -> tensor<4x1x1xi32>
    %c_1 = stablehlo.constant dense<2> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<4x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<4x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<4x1x1xi32>, tensor<4x1x1xi32>) -> tensor<4x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<4x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<4x1x1xi1>, tensor<i1>) -> tensor<4x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<4x3xf32>, tensor<4x1x1xi32>) -> tensor<4x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<4x1xi1>, tensor<4x1xf32>
    return %15, %5 : tensor<4x1xf32>, tensor<4x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<4x1x1xi32>, %arg1: tensor<4x1xf32>) -> tensor<4x3xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<4x3xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<4x3xf32>, tensor<4x1x1xi32>, tensor<4x1xf32>) -> tensor<4x3xf32>
    return %1 : tensor<4x3xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<4x3xf32>, %arg1: tensor<4x1xf32>, %arg2: tensor<4x3xf32>) -> tensor<4x3xf32> {
    %0 = stablehlo.negate %arg2 : tensor<4x3xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<4x3xf32>, tensor<f32>) -> tensor<4xf32>
    %2 = stablehlo.reshape %1 : (tensor<4xf32>) -> tensor<4x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<4x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<4x1xf32>, tensor<f32>) -> tensor<4xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xf32>) -> tensor<4x3xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<4x3xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<4x3xf32>
    return %7 : tensor<4x3xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<7x4x6xf32>, %arg1: tensor<i32>) -> tensor<4x6xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 4, 6] : (tensor<7x4x6xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x4x6xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x4x6xf32>) -> tensor<4x6xf32>
    return %1 : tensor<4x6xf32>
  }
  func.func private @closed_call_3(%arg0: tensor<6x24xf32>, %arg1: tensor<5x24xf32>, %arg2: tensor<6x24xf32>, %arg3: tensor<24xf32>, %arg4: tensor<4x6xf32>, %arg5: tensor<4x6xf32>, %arg6: tensor<4x5xf32>, %arg7: tensor<4x6xf32>, %arg8: tensor<4x6xf32>, %arg9: tensor<4x6xf32>, %arg10: tensor<4x6xf32>, %arg11: tensor<4x6xf32>, %arg12: tensor<4x6xf32>, %arg13: tensor<4x6xf32>, %arg14: tensor<4x6xf32>, %arg15: tensor<4x6xf32>, %arg16: tensor<4x6xf32>, %arg17: tensor<4x6xf32>, %arg18: tensor<4x6xf32>) -> (tensor<5x24xf32>, tensor<6x24xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
    %0 = stablehlo.multiply %arg18, %arg4 : tensor<4x6xf32>
    %1 = stablehlo.multiply %arg4, %arg16 : tensor<4x6xf32>
    %2 = stablehlo.multiply %0, %arg17 : tensor<4x6xf32>
    %3 = stablehlo.add %arg5, %2 : tensor<4x6xf32>
    %4 = stablehlo.multiply %2, %arg16 : tensor<4x6xf32>
    %5 = stablehlo.add %3, %4 : tensor<4x6xf32>
    %6 = stablehlo.multiply %1, %arg15 : tensor<4x6xf32>
    %7 = stablehlo.multiply %arg14, %5 : tensor<4x6xf32>
    %8 = stablehlo.multiply %5, %arg12 : tensor<4x6xf32>
    %9 = stablehlo.multiply %7, %arg13 : tensor<4x6xf32>
    %10 = stablehlo.multiply %9, %arg12 : tensor<4x6xf32>
    %11 = stablehlo.add %9, %10 : tensor<4x6xf32>
    %12 = stablehlo.multiply %8, %arg11 : tensor<4x6xf32>
    %13 = stablehlo.multiply %arg10, %5 : tensor<4x6xf32>
    %14 = stablehlo.multiply %5, %arg9 : tensor<4x6xf32>
    %15 = stablehlo.multiply %14, %arg8 : tensor<4x6xf32>
    %16 = stablehlo.concatenate %12, %15, %11, %6, dim = 1 : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x24xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<4x24xf32>, tensor<f32>) -> tensor<24xf32>
    %18 = stablehlo.reshape %17 : (tensor<24xf32>) -> tensor<1x24xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1x24xf32>, tensor<f32>) -> tensor<24xf32>
    %20 = stablehlo.add %arg3, %19 : tensor<24xf32>
    %21 = stablehlo.dot_general %16, %arg7, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x24xf32>, tensor<4x6xf32>) -> tensor<24x6xf32>
    %22 = stablehlo.transpose %21, dims = [1, 0] : (tensor<24x6xf32>) -> tensor<6x24xf32>
    %23 = stablehlo.add %arg2, %22 : tensor<6x24xf32>
    %24 = stablehlo.dot_general %16, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<4x24xf32>, tensor<6x24xf32>) -> tensor<4x6xf32>
    %25 = stablehlo.dot_general %16, %arg6, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x24xf32>, tensor<4x5xf32>) -> tensor<24x5xf32>
    %26 = stablehlo.transpose %25, dims = [1, 0] : (tensor<24x5xf32>) -> tensor<5x24xf32>
    %27 = stablehlo.add %arg1, %26 : tensor<5x24xf32>
    return %27, %23, %20, %24, %13 : tensor<5x24xf32>, tensor<6x24xf32>, tensor<24xf32>, tensor<4x6xf32>, tensor<4x6xf32>
  }
}
