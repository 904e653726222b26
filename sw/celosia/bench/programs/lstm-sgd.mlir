module @jit_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<512xf32>, %arg1: tensor<128x512xf32>, %arg2: tensor<128x16xf32>, %arg3: tensor<64x512xf32>, %arg4: tensor<512xf32>, %arg5: tensor<128x512xf32>, %arg6: tensor<128x16xf32>, %arg7: tensor<64x512xf32>, %arg8: tensor<16x32x64xf32>, %arg9: tensor<32xi32>) -> (tensor<f32> {jax.result_info = "result[0]"}, tensor<512xf32> {jax.result_info = "result[1]['b']"}, tensor<128x512xf32> {jax.result_info = "result[1]['h']"}, tensor<128x16xf32> {jax.result_info = "result[1]['out']"}, tensor<64x512xf32> {jax.result_info = "result[1]['x']"}, tensor<512xf32> {jax.result_info = "result[2]['b']"}, tensor<128x512xf32> {jax.result_info = "result[2]['h']"}, tensor<128x16xf32> {jax.result_info = "result[2]['out']"}, tensor<64x512xf32> {jax.result_info = "result[2]['x']"}) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<512xf32>) -> tensor<1x512xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16x32x128xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<16x32x128xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<16x32x128xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %5 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<16x32x128xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<16x32x128xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<16x32x128xf32>
    %cst_6 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %8 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<16x32x128xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<16x32x128xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<16x32x128xf32>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<16x32x128xf32>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<16x32x128xf32>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<16x32x128xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %14:19 = stablehlo.while(%iterArg = %arg8, %iterArg_31 = %arg3, %iterArg_32 = %arg1, %iterArg_33 = %1, %iterArg_34 = %c, %iterArg_35 = %0, %iterArg_36 = %0, %iterArg_37 = %2, %iterArg_38 = %3, %iterArg_39 = %4, %iterArg_40 = %5, %iterArg_41 = %6, %iterArg_42 = %7, %iterArg_43 = %8, %iterArg_44 = %9, %iterArg_45 = %10, %iterArg_46 = %11, %iterArg_47 = %12, %iterArg_48 = %13) : tensor<16x32x64xf32>, tensor<64x512xf32>, tensor<128x512xf32>, tensor<1x512xf32>, tensor<i32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>
    cond {
      %c_49 = stablehlo.constant dense<16> : tensor<i32>
      %61 = stablehlo.compare LT, %iterArg_34, %c_49, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %61 : tensor<i1>
    } do {
      %61 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_34) : (tensor<16x32x64xf32>, tensor<i32>) -> tensor<32x64xf32>
      %62:14 = func.call @closed_call(%iterArg_31, %iterArg_32, %iterArg_33, %iterArg_35, %iterArg_36, %61) : (tensor<64x512xf32>, tensor<128x512xf32>, tensor<1x512xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x64xf32>) -> (tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>)
      %63 = func.call @dynamic_update_index_in_dim(%iterArg_37, %62#2, %iterArg_34) : (tensor<16x32x128xf32>, tensor<32x128xf32>, tensor<i32>) -> tensor<16x32x128xf32>
      %64 = func.call @dynamic_update_index_in_dim(%iterArg_38, %62#3, %iterArg_34) : (tensor<16x32x128xf32>, tensor<32x128xf32>, tensor<i32>) -> tensor<16x32x128xf32>
      %65 = func.call @dynamic_update_index_in_dim(%iterArg_39, %62#4, %iterArg_34) : (tensor<16x32x128xf32>, tensor<32x128xf32>, tensor<i32>) -> tensor<16x32x128xf32>
      %66 = func.call @dynamic_update_index_in_dim(%iterArg_40, %62#5, %iterArg_34) : (tensor<16x32x128xf32>, tensor<32x128xf32>, tensor<i32>) -> tensor<16x32x128xf32>
      %67 = func.call @dynamic_update_index_in_dim(%iterArg_41, %62#6, %iterArg_34) : (tensor<16x32x128xf32>, tensor<32x128xf32>, tensor<i32>) -> tensor<16x32x128xf32>
      %68 = func.call @dynamic_update_index_in_dim(%iterArg_42, %62#7, %iterArg_34) : (tensor<16x32x128xf32>, tensor<32x128xf32>, tensor<i32>) -> tensor<16x32x128xf32>
      %69 = func.call @dynamic_update_index_in_dim(%iterArg_43, %62#8, %iterArg_34) : (tensor<16x32x128xf32>, tensor<32x128xf32>, tensor<i32>) -> tensor<16x32x128xf32>
      %70 = func.call @dynamic_update_index_in_dim(%iterArg_44, %62#9, %iterArg_34) : (tensor<16x32x128xf32>, tensor<32x128xf32>, tensor<i32>) -> tensor<16x32x128xf32>
      %71 = func.call @dynamic_update_index_in_dim(%iterArg_45, %62#10, %iterArg_34) : (tensor<16x32x128xf32>, tensor<32x128xf32>, tensor<i32>) -> tensor<16x32x128xf32>
      %72 = func.call @dynamic_update_index_in_dim(%iterArg_46, %62#11, %iterArg_34) : (tensor<16x32x128xf32>, tensor<32x128xf32>, tensor<i32>) -> tensor<16x32x128xf32>
      %73 = func.call @dynamic_update_index_in_dim(%iterArg_47, %62#12, %iterArg_34) : (tensor<16x32x128xf32>, tensor<32x128xf32>, tensor<i32>) -> tensor<16x32x128xf32>
      %74 = func.call @dynamic_update_index_in_dim(%iterArg_48, %62#13, %iterArg_34) : (tensor<16x32x128xf32>, tensor<32x128xf32>, tensor<i32>) -> tensor<16x32x128xf32>
      %c_49 = stablehlo.constant dense<1> : tensor<i32>
      %75 = stablehlo.add %iterArg_34, %c_49 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_31, %iterArg_32, %iterArg_33, %75, %62#0, %62#1, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74 : tensor<16x32x64xf32>, tensor<64x512xf32>, tensor<128x512xf32>, tensor<1x512xf32>, tensor<i32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>
    }
    %15 = stablehlo.dot_general %14#5, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x128xf32>, tensor<128x16xf32>) -> tensor<32x16xf32>
    %16:3 = call @log_softmax(%15) : (tensor<32x16xf32>) -> (tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x1xf32>)
    %17 = stablehlo.broadcast_in_dim %arg9, dims = [0] : (tensor<32xi32>) -> tensor<32x1xi32>
    %18:2 = call @take_along_axis(%16#0, %17) : (tensor<32x16xf32>, tensor<32x1xi32>) -> (tensor<32x1xf32>, tensor<32x1x1xi32>)
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18#0 init: %cst_12) applies stablehlo.add across dimensions = [0, 1] : (tensor<32x1xf32>, tensor<f32>) -> tensor<f32>
    %cst_13 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %20 = stablehlo.divide %19, %cst_13 : tensor<f32>
    %21 = stablehlo.negate %20 : tensor<f32>
    %cst_14 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %cst_16 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %24 = stablehlo.negate %cst_16 : tensor<f32>
    %cst_17 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %25 = stablehlo.divide %24, %cst_17 : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f32>) -> tensor<32x1xf32>
    %27 = call @take_along_axis_0(%18#1, %26) : (tensor<32x1x1xi32>, tensor<32x1xf32>) -> tensor<32x16xf32>
    %28 = call @log_softmax_1(%16#1, %16#2, %27) : (tensor<32x16xf32>, tensor<32x1xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
    %29 = stablehlo.dot_general %28, %14#5, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<32x128xf32>) -> tensor<16x128xf32>
    %30 = stablehlo.transpose %29, dims = [1, 0] : (tensor<16x128xf32>) -> tensor<128x16xf32>
    %31 = stablehlo.dot_general %28, %arg2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x16xf32>, tensor<128x16xf32>) -> tensor<32x128xf32>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<64x512xf32>
    %cst_20 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %34 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %cst_21 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %c_22 = stablehlo.constant dense<0> : tensor<i32>
    %36:20 = stablehlo.while(%iterArg = %arg8, %iterArg_31 = %14#7, %iterArg_32 = %14#8, %iterArg_33 = %14#9, %iterArg_34 = %14#10, %iterArg_35 = %14#11, %iterArg_36 = %14#12, %iterArg_37 = %14#13, %iterArg_38 = %14#14, %iterArg_39 = %14#15, %iterArg_40 = %14#16, %iterArg_41 = %14#17, %iterArg_42 = %14#18, %iterArg_43 = %arg1, %iterArg_44 = %c_22, %iterArg_45 = %33, %iterArg_46 = %34, %iterArg_47 = %35, %iterArg_48 = %31, %iterArg_49 = %32) : tensor<16x32x64xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<128x512xf32>, tensor<i32>, tensor<64x512xf32>, tensor<128x512xf32>, tensor<512xf32>, tensor<32x128xf32>, tensor<32x128xf32>
    cond {
      %c_50 = stablehlo.constant dense<16> : tensor<i32>
      %61 = stablehlo.compare LT, %iterArg_44, %c_50, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %61 : tensor<i1>
    } do {
      %c_50 = stablehlo.constant dense<16> : tensor<i32>
      %61 = stablehlo.subtract %c_50, %iterArg_44 : tensor<i32>
      %c_51 = stablehlo.constant dense<1> : tensor<i32>
      %62 = stablehlo.subtract %61, %c_51 : tensor<i32>
      %63 = func.call @dynamic_index_in_dim(%iterArg, %62) : (tensor<16x32x64xf32>, tensor<i32>) -> tensor<32x64xf32>
      %64 = func.call @dynamic_index_in_dim_2(%iterArg_31, %62) : (tensor<16x32x128xf32>, tensor<i32>) -> tensor<32x128xf32>
      %65 = func.call @dynamic_index_in_dim_2(%iterArg_32, %62) : (tensor<16x32x128xf32>, tensor<i32>) -> tensor<32x128xf32>
      %66 = func.call @dynamic_index_in_dim_2(%iterArg_33, %62) : (tensor<16x32x128xf32>, tensor<i32>) -> tensor<32x128xf32>
      %67 = func.call @dynamic_index_in_dim_2(%iterArg_34, %62) : (tensor<16x32x128xf32>, tensor<i32>) -> tensor<32x128xf32>
      %68 = func.call @dynamic_index_in_dim_2(%iterArg_35, %62) : (tensor<16x32x128xf32>, tensor<i32>) -> tensor<32x128xf32>
      %69 = func.call @dynamic_index_in_dim_2(%iterArg_36, %62) : (tensor<16x32x128xf32>, tensor<i32>) -> tensor<32x128xf32>
      %70 = func.call @dynamic_index_in_dim_2(%iterArg_37, %62) : (tensor<16x32x128xf32>, tensor<i32>) -> tensor<32x128xf32>
      %71 = func.call @dynamic_index_in_dim_2(%iterArg_38, %62) : (tensor<16x32x128xf32>, tensor<i32>) -> tensor<32x128xf32>
      %72 = func.call @dynamic_index_in_dim_2(%iterArg_39, %62) : (tensor<16x32x128xf32>, tensor<i32>) -> tensor<32x128xf32>
      %73 = func.call @dynamic_index_in_dim_2(%iterArg_40, %62) : (tensor<16x32x128xf32>, tensor<i32>) -> tensor<32x128xf32>
      %74 = func.call @dynamic_index_in_dim_2(%iterArg_41, %62) : (tensor<16x32x128xf32>, tensor<i32>) -> tensor<32x128xf32>
      %75 = func.call @dynamic_index_in_dim_2(%iterArg_42, %62) : (tensor<16x32x128xf32>, tensor<i32>) -> tensor<32x128xf32>
      %76:5 = func.call @closed_call_3(%iterArg_43, %iterArg_45, %iterArg_46, %iterArg_47, %iterArg_48, %iterArg_49, %63, %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75) : (tensor<128x512xf32>, tensor<64x512xf32>, tensor<128x512xf32>, tensor<512xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x64xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>) -> (tensor<64x512xf32>, tensor<128x512xf32>, tensor<512xf32>, tensor<32x128xf32>, tensor<32x128xf32>)
      %c_52 = stablehlo.constant dense<1> : tensor<i32>
      %77 = stablehlo.add %iterArg_44, %c_52 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_31, %iterArg_32, %iterArg_33, %iterArg_34, %iterArg_35, %iterArg_36, %iterArg_37, %iterArg_38, %iterArg_39, %iterArg_40, %iterArg_41, %iterArg_42, %iterArg_43, %77, %76#0, %76#1, %76#2, %76#3, %76#4 : tensor<16x32x64xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<16x32x128xf32>, tensor<128x512xf32>, tensor<i32>, tensor<64x512xf32>, tensor<128x512xf32>, tensor<512xf32>, tensor<32x128xf32>, tensor<32x128xf32>
    }
    %cst_23 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_23, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %38 = stablehlo.multiply %37, %arg4 : tensor<512xf32>
    %39 = stablehlo.add %38, %36#17 : tensor<512xf32>
    %cst_24 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_24, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %41 = stablehlo.multiply %40, %arg5 : tensor<128x512xf32>
    %42 = stablehlo.add %41, %36#16 : tensor<128x512xf32>
    %cst_25 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<128x16xf32>
    %44 = stablehlo.multiply %43, %arg6 : tensor<128x16xf32>
    %45 = stablehlo.add %44, %30 : tensor<128x16xf32>
    %cst_26 = stablehlo.constant dense<0.899999976> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<64x512xf32>
    %47 = stablehlo.multiply %46, %arg7 : tensor<64x512xf32>
    %48 = stablehlo.add %47, %36#15 : tensor<64x512xf32>
    %cst_27 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %49 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<512xf32>
    %50 = stablehlo.multiply %49, %39 : tensor<512xf32>
    %51 = stablehlo.subtract %arg0, %50 : tensor<512xf32>
    %cst_28 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<128x512xf32>
    %53 = stablehlo.multiply %52, %42 : tensor<128x512xf32>
    %54 = stablehlo.subtract %arg1, %53 : tensor<128x512xf32>
    %cst_29 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<128x16xf32>
    %56 = stablehlo.multiply %55, %45 : tensor<128x16xf32>
    %57 = stablehlo.subtract %arg2, %56 : tensor<128x16xf32>
    %cst_30 = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %58 = stablehlo.broadcast_in_dim %cst_30, dims = [] : (tensor<f32>) -> tensor<64x512xf32>
    %59 = stablehlo.multiply %58, %48 : tensor<64x512xf32>
    %60 = stablehlo.subtract %arg3, %59 : tensor<64x512xf32>
    return %21, %51, %54, %57, %60, %39, %42, %45, %48 : tensor<f32>, tensor<512xf32>, tensor<128x512xf32>, tensor<128x16xf32>, tensor<64x512xf32>, tensor<512xf32>, tensor<128x512xf32>, tensor<128x16xf32>, tensor<64x512xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<16x32x64xf32>, %arg1: tensor<i32>) -> tensor<32x64xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 32, 64] : (tensor<16x32x64xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x64xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32x64xf32>) -> tensor<32x64xf32>
    return %1 : tensor<32x64xf32>
  }
  func.func private @closed_call(%arg0: tensor<64x512xf32>, %arg1: tensor<128x512xf32>, %arg2: tensor<1x512xf32>, %arg3: tensor<32x128xf32>, %arg4: tensor<32x128xf32>, %arg5: tensor<32x64xf32>) -> (tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>) {
    %0 = stablehlo.dot_general %arg5, %arg0, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x64xf32>, tensor<64x512xf32>) -> tensor<32x512xf32>
    %1 = stablehlo.dot_general %arg3, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x128xf32>, tensor<128x512xf32>) -> tensor<32x512xf32>
    %2 = stablehlo.add %0, %1 : tensor<32x512xf32>
    %3 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<1x512xf32>) -> tensor<32x512xf32>
    %4 = stablehlo.add %2, %3 : tensor<32x512xf32>
    %5 = stablehlo.slice %4 [0:32, 0:128] : (tensor<32x512xf32>) -> tensor<32x128xf32>
    %6 = stablehlo.slice %4 [0:32, 128:256] : (tensor<32x512xf32>) -> tensor<32x128xf32>
    %7 = stablehlo.slice %4 [0:32, 256:384] : (tensor<32x512xf32>) -> tensor<32x128xf32>
    %8 = stablehlo.slice %4 [0:32, 384:512] : (tensor<32x512xf32>) -> tensor<32x128xf32>
    %9 = stablehlo.negate %6 : tensor<32x128xf32>
    %10 = stablehlo.exponential %9 : tensor<32x128xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %12 = stablehlo.add %11, %10 : tensor<32x128xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %14 = stablehlo.divide %13, %12 : tensor<32x128xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %15 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %16 = stablehlo.subtract %15, %14 : tensor<32x128xf32>
    %17 = stablehlo.multiply %14, %16 : tensor<32x128xf32>
    %18 = stablehlo.multiply %14, %arg4 : tensor<32x128xf32>
    %19 = stablehlo.negate %5 : tensor<32x128xf32>
    %20 = stablehlo.exponential %19 : tensor<32x128xf32>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %22 = stablehlo.add %21, %20 : tensor<32x128xf32>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %24 = stablehlo.divide %23, %22 : tensor<32x128xf32>
    %cst_4 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %26 = stablehlo.subtract %25, %24 : tensor<32x128xf32>
    %27 = stablehlo.multiply %24, %26 : tensor<32x128xf32>
    %28 = stablehlo.tanh %7 : tensor<32x128xf32>
    %cst_5 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %29 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %30 = stablehlo.subtract %29, %28 : tensor<32x128xf32>
    %31 = stablehlo.multiply %24, %28 : tensor<32x128xf32>
    %32 = stablehlo.add %18, %31 : tensor<32x128xf32>
    %33 = stablehlo.negate %8 : tensor<32x128xf32>
    %34 = stablehlo.exponential %33 : tensor<32x128xf32>
    %cst_6 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %35 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %36 = stablehlo.add %35, %34 : tensor<32x128xf32>
    %cst_7 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %37 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %38 = stablehlo.divide %37, %36 : tensor<32x128xf32>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %39 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %40 = stablehlo.subtract %39, %38 : tensor<32x128xf32>
    %41 = stablehlo.multiply %38, %40 : tensor<32x128xf32>
    %42 = stablehlo.tanh %32 : tensor<32x128xf32>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<32x128xf32>
    %44 = stablehlo.subtract %43, %42 : tensor<32x128xf32>
    %45 = stablehlo.multiply %38, %42 : tensor<32x128xf32>
    return %45, %32, %arg3, %17, %arg4, %14, %27, %28, %30, %24, %41, %42, %44, %38 : tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<16x32x128xf32>, %arg1: tensor<32x128xf32>, %arg2: tensor<i32>) -> tensor<16x32x128xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1, 2] : (tensor<32x128xf32>) -> tensor<1x32x128xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c, %c_0 : (tensor<16x32x128xf32>, tensor<1x32x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<16x32x128xf32>
    return %1 : tensor<16x32x128xf32>
  }
  func.func private @log_softmax(%arg0: tensor<32x16xf32>) -> (tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x1xf32>) {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.maximum across dimensions = [1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<32xf32>
    %cst_0 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<32xf32>
    %2 = stablehlo.maximum %1, %0 : tensor<32xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x16xf32>
    %5 = stablehlo.subtract %arg0, %4 : tensor<32x16xf32>
    %6 = stablehlo.exponential %5 : tensor<32x16xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.reduce(%6 init: %cst_1) applies stablehlo.add across dimensions = [1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<32xf32>
    %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<32xf32>) -> tensor<32x1xf32>
    %9 = stablehlo.log %8 : tensor<32x1xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<32x1xf32>) -> tensor<32x16xf32>
    %11 = stablehlo.subtract %5, %10 : tensor<32x16xf32>
    return %11, %6, %8 : tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x1xf32>
  }
  func.func private @take_along_axis(%arg0: tensor<32x16xf32>, %arg1: tensor<32x1xi32>) -> (tensor<32x1xf32>, tensor<32x1x1xi32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<32x1xi32>
    %1 = stablehlo.compare LT, %arg1, %0, SIGNED : (tensor<32x1xi32>, tensor<32x1xi32>) -> tensor<32x1xi1>
    %c_0 = stablehlo.constant dense<16> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<32x1xi32>
    %3 = stablehlo.add %arg1, %2 : tensor<32x1xi32>
    %4 = stablehlo.select %1, %3, %arg1 : tensor<32x1xi1>, tensor<32x1xi32>
    %5 = stablehlo.reshape %4 : (tensor<32x1xi32>) -> tensor<32x1x1xi32>
    %c_1 = stablehlo.constant dense<15> : tensor<1xi32>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<32x1x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<32x1x1xi32>, tensor<32x1x1xi32>) -> tensor<32x1x1xi1>
    %8 = stablehlo.broadcast_in_dim %c_1, dims = [2] : (tensor<1xi32>) -> tensor<1x1x1xi32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1, 2] : (tensor<1x1x1xi32>) -> tensor<32x1x1xi32>
    %10 = stablehlo.compare LE, %5, %9, SIGNED : (tensor<32x1x1xi32>, tensor<32x1x1xi32>) -> tensor<32x1x1xi1>
    %11 = stablehlo.and %7, %10 : tensor<32x1x1xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %12 = stablehlo.reduce(%11 init: %c_3) applies stablehlo.and across dimensions = [2] : (tensor<32x1x1xi1>, tensor<i1>) -> tensor<32x1xi1>
    %13 = "stablehlo.gather"(%arg0, %5) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<32x16xf32>, tensor<32x1x1xi32>) -> tensor<32x1xf32>
    %cst = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x1xf32>
    %15 = stablehlo.select %12, %13, %14 : tensor<32x1xi1>, tensor<32x1xf32>
    return %15, %5 : tensor<32x1xf32>, tensor<32x1x1xi32>
  }
  func.func private @take_along_axis_0(%arg0: tensor<32x1x1xi32>, %arg1: tensor<32x1xf32>) -> tensor<32x16xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<32x16xf32>
    %1 = "stablehlo.scatter"(%0, %arg0, %arg1) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>, unique_indices = false}> ({
    ^bb0(%arg2: tensor<f32>, %arg3: tensor<f32>):
      %2 = stablehlo.add %arg2, %arg3 : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<32x16xf32>, tensor<32x1x1xi32>, tensor<32x1xf32>) -> tensor<32x16xf32>
    return %1 : tensor<32x16xf32>
  }
  func.func private @log_softmax_1(%arg0: tensor<32x16xf32>, %arg1: tensor<32x1xf32>, %arg2: tensor<32x16xf32>) -> tensor<32x16xf32> {
    %0 = stablehlo.negate %arg2 : tensor<32x16xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %cst) applies stablehlo.add across dimensions = [1] : (tensor<32x16xf32>, tensor<f32>) -> tensor<32xf32>
    %2 = stablehlo.reshape %1 : (tensor<32xf32>) -> tensor<32x1xf32>
    %3 = stablehlo.divide %2, %arg1 : tensor<32x1xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %4 = stablehlo.reduce(%3 init: %cst_0) applies stablehlo.add across dimensions = [1] : (tensor<32x1xf32>, tensor<f32>) -> tensor<32xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<32xf32>) -> tensor<32x16xf32>
    %6 = stablehlo.multiply %5, %arg0 : tensor<32x16xf32>
    %7 = stablehlo.add %arg2, %6 : tensor<32x16xf32>
    return %7 : tensor<32x16xf32>
  }
  func.func private @dynamic_index_in_dim_2(%arg0: tensor<16x32x128xf32>, %arg1: tensor<i32>) -> tensor<32x128xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, %c_0, sizes = [1, 32, 128] : (tensor<16x32x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x32x128xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x32x128xf32>) -> tensor<32x128xf32>
    return %1 : tensor<32x128xf32>
  }
  func.func private @closed_call_3(%arg0: tensor<128x512xf32>, %arg1: tensor<64x512xf32>, %arg2: tensor<128x512xf32>, %arg3: tensor<512xf32>, %arg4: tensor<32x128xf32>, %arg5: tensor<32x128xf32>, %arg6: tensor<32x64xf32>, %arg7: tensor<32x128xf32>, %arg8: tensor<32x128xf32>, %arg9: tensor<32x128xf32>, %arg10: tensor<32x128xf32>, %arg11: tensor<32x128xf32>, %arg12: tensor<32x128xf32>, %arg13: tensor<32x128xf32>, %arg14: tensor<32x128xf32>, %arg15: tensor<32x128xf32>, %arg16: tensor<32x128xf32>, %arg17: tensor<32x128xf32>, %arg18: tensor<32x128xf32>) -> (tensor<64x512xf32>, tensor<128x512xf32>, tensor<512xf32>, tensor<32x128xf32>, tensor<32x128xf32>) {
    %0 = stablehlo.multiply %arg18, %arg4 : tensor<32x128xf32>
    %1 = stablehlo.multiply %arg4, %arg16 : tensor<32x128xf32>
    %2 = stablehlo.multiply %0, %arg17 : tensor<32x128xf32>
    %3 = stablehlo.add %arg5, %2 : tensor<32x128xf32>
    %4 = stablehlo.multiply %2, %arg16 : tensor<32x128xf32>
    %5 = stablehlo.add %3, %4 : tensor<32x128xf32>
    %6 = stablehlo.multiply %1, %arg15 : tensor<32x128xf32>
    %7 = stablehlo.multiply %arg14, %5 : tensor<32x128xf32>
    %8 = stablehlo.multiply %5, %arg12 : tensor<32x128xf32>
    %9 = stablehlo.multiply %7, %arg13 : tensor<32x128xf32>
    %10 = stablehlo.multiply %9, %arg12 : tensor<32x128xf32>
    %11 = stablehlo.add %9, %10 : tensor<32x128xf32>
    %12 = stablehlo.multiply %8, %arg11 : tensor<32x128xf32>
    %13 = stablehlo.multiply %arg10, %5 : tensor<32x128xf32>
    %14 = stablehlo.multiply %5, %arg9 : tensor<32x128xf32>
    %15 = stablehlo.multiply %14, %arg8 : tensor<32x128xf32>
    %16 = stablehlo.concatenate %12, %15, %11, %6, dim = 1 : (tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>, tensor<32x128xf32>) -> tensor<32x512xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %17 = stablehlo.reduce(%16 init: %cst) applies stablehlo.add across dimensions = [0] : (tensor<32x512xf32>, tensor<f32>) -> tensor<512xf32>
    %18 = stablehlo.reshape %17 : (tensor<512xf32>) -> tensor<1x512xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_0) applies stablehlo.add across dimensions = [0] : (tensor<1x512xf32>, tensor<f32>) -> tensor<512xf32>
    %20 = stablehlo.add %arg3, %19 : tensor<512xf32>
    %21 = stablehlo.dot_general %16, %arg7, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x512xf32>, tensor<32x128xf32>) -> tensor<512x128xf32>
    %22 = stablehlo.transpose %21, dims = [1, 0] : (tensor<512x128xf32>) -> tensor<128x512xf32>
    %23 = stablehlo.add %arg2, %22 : tensor<128x512xf32>
    %24 = stablehlo.dot_general %16, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<32x512xf32>, tensor<128x512xf32>) -> tensor<32x128xf32>
    %25 = stablehlo.dot_general %16, %arg6, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<32x512xf32>, tensor<32x64xf32>) -> tensor<512x64xf32>
    %26 = stablehlo.transpose %25, dims = [1, 0] : (tensor<512x64xf32>) -> tensor<64x512xf32>
    %27 = stablehlo.add %arg1, %26 : tensor<64x512xf32>
    return %27, %23, %20, %24, %13 : tensor<64x512xf32>, tensor<128x512xf32>, tensor<512xf32>, tensor<32x128xf32>, tensor<32x128xf32>
  }
}
