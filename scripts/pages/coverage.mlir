// stablehlo.dot_general
func.func @main(%x: tensor<3x6x20xf32>, %y: tensor<3x20x9xf32>) -> (tensor<3x6x9xf32>) {
  %r = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x6x20xf32>, tensor<3x20x9xf32>) -> tensor<3x6x9xf32>
  return %r : tensor<3x6x9xf32>
}

// stablehlo.dot_general
func.func @main(%x: tensor<6x20xi8>, %y: tensor<20x9xi8>) -> (tensor<6x9xi32>) {
  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<6x20xi8>, tensor<20x9xi8>) -> tensor<6x9xi32>
  return %r : tensor<6x9xi32>
}

// stablehlo.dot_general
func.func @main(%x: tensor<6x20xi32>, %y: tensor<20x9xi32>) -> (tensor<6x9xi32>) {
  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<6x20xi32>, tensor<20x9xi32>) -> tensor<6x9xi32>
  return %r : tensor<6x9xi32>
}

// stablehlo.convolution
func.func @main(%x: tensor<1x6x6x4xf32>, %y: tensor<3x3x4x8xf32>) -> (tensor<1x3x3x8xf32>) {
  %r = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x6x4xf32>, tensor<3x3x4x8xf32>) -> tensor<1x3x3x8xf32>
  return %r : tensor<1x3x3x8xf32>
}

// stablehlo.convolution
func.func @main(%x: tensor<1x6x6x4xf32>, %y: tensor<3x3x1x4xf32>) -> (tensor<1x6x6x4xf32>) {
  %r = stablehlo.convolution(%x, %y) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[2, 2], [2, 2]], rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x6x6x4xf32>, tensor<3x3x1x4xf32>) -> tensor<1x6x6x4xf32>
  return %r : tensor<1x6x6x4xf32>
}

// stablehlo.add
func.func @main(%x: tensor<6x20xf32>, %y: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.add"(%x, %y) : (tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.subtract
func.func @main(%x: tensor<6x20xf32>, %y: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.subtract"(%x, %y) : (tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.multiply
func.func @main(%x: tensor<6x20xf32>, %y: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.multiply"(%x, %y) : (tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.divide
func.func @main(%x: tensor<6x20xf32>, %y: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.divide"(%x, %y) : (tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.maximum
func.func @main(%x: tensor<6x20xf32>, %y: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.maximum"(%x, %y) : (tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.minimum
func.func @main(%x: tensor<6x20xf32>, %y: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.minimum"(%x, %y) : (tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.power
func.func @main(%x: tensor<6x20xf32>, %y: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.power"(%x, %y) : (tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.add
func.func @main(%x: tensor<6x20xi32>, %y: tensor<6x20xi32>) -> (tensor<6x20xi32>) {
  %r = "stablehlo.add"(%x, %y) : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  return %r : tensor<6x20xi32>
}

// stablehlo.subtract
func.func @main(%x: tensor<6x20xi32>, %y: tensor<6x20xi32>) -> (tensor<6x20xi32>) {
  %r = "stablehlo.subtract"(%x, %y) : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  return %r : tensor<6x20xi32>
}

// stablehlo.multiply
func.func @main(%x: tensor<6x20xi32>, %y: tensor<6x20xi32>) -> (tensor<6x20xi32>) {
  %r = "stablehlo.multiply"(%x, %y) : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  return %r : tensor<6x20xi32>
}

// stablehlo.maximum
func.func @main(%x: tensor<6x20xi32>, %y: tensor<6x20xi32>) -> (tensor<6x20xi32>) {
  %r = "stablehlo.maximum"(%x, %y) : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  return %r : tensor<6x20xi32>
}

// stablehlo.negate
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.negate"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.abs
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.abs"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.is_finite
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xi1>) {
  %r = "stablehlo.is_finite"(%x) : (tensor<6x20xf32>) -> tensor<6x20xi1>
  return %r : tensor<6x20xi1>
}

// stablehlo.clamp
func.func @main(%x: tensor<f32>, %y: tensor<6x20xf32>, %z: tensor<f32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.clamp"(%x, %y, %z) : (tensor<f32>, tensor<6x20xf32>, tensor<f32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.select
func.func @main(%x: tensor<6x20xi1>, %y: tensor<6x20xf32>, %z: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.select"(%x, %y, %z) : (tensor<6x20xi1>, tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.compare
func.func @main(%x: tensor<6x20xf32>, %y: tensor<6x20xf32>) -> (tensor<6x20xi1>) {
  %r = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x20xi1>
  return %r : tensor<6x20xi1>
}

// stablehlo.compare
func.func @main(%x: tensor<6x20xui32>, %y: tensor<6x20xui32>) -> (tensor<6x20xi1>) {
  %r = "stablehlo.compare"(%x, %y) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<6x20xui32>, tensor<6x20xui32>) -> tensor<6x20xi1>
  return %r : tensor<6x20xi1>
}

// stablehlo.convert
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xbf16>) {
  %r = "stablehlo.convert"(%x) : (tensor<6x20xf32>) -> tensor<6x20xbf16>
  return %r : tensor<6x20xbf16>
}

// stablehlo.convert
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xi32>) {
  %r = "stablehlo.convert"(%x) : (tensor<6x20xf32>) -> tensor<6x20xi32>
  return %r : tensor<6x20xi32>
}

// stablehlo.convert
func.func @main(%x: tensor<6x20xi32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.convert"(%x) : (tensor<6x20xi32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.convert
func.func @main(%x: tensor<6x20xi1>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.convert"(%x) : (tensor<6x20xi1>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.convert
func.func @main(%x: tensor<6x20xi8>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.convert"(%x) : (tensor<6x20xi8>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.bitcast_convert
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xui32>) {
  %r = "stablehlo.bitcast_convert"(%x) : (tensor<6x20xf32>) -> tensor<6x20xui32>
  return %r : tensor<6x20xui32>
}

// stablehlo.and
func.func @main(%x: tensor<6x20xi1>, %y: tensor<6x20xi1>) -> (tensor<6x20xi1>) {
  %r = "stablehlo.and"(%x, %y) : (tensor<6x20xi1>, tensor<6x20xi1>) -> tensor<6x20xi1>
  return %r : tensor<6x20xi1>
}

// stablehlo.or
func.func @main(%x: tensor<6x20xi1>, %y: tensor<6x20xi1>) -> (tensor<6x20xi1>) {
  %r = "stablehlo.or"(%x, %y) : (tensor<6x20xi1>, tensor<6x20xi1>) -> tensor<6x20xi1>
  return %r : tensor<6x20xi1>
}

// stablehlo.xor
func.func @main(%x: tensor<6x20xi1>, %y: tensor<6x20xi1>) -> (tensor<6x20xi1>) {
  %r = "stablehlo.xor"(%x, %y) : (tensor<6x20xi1>, tensor<6x20xi1>) -> tensor<6x20xi1>
  return %r : tensor<6x20xi1>
}

// stablehlo.and
func.func @main(%x: tensor<6x20xui32>, %y: tensor<6x20xui32>) -> (tensor<6x20xui32>) {
  %r = "stablehlo.and"(%x, %y) : (tensor<6x20xui32>, tensor<6x20xui32>) -> tensor<6x20xui32>
  return %r : tensor<6x20xui32>
}

// stablehlo.xor
func.func @main(%x: tensor<6x20xui32>, %y: tensor<6x20xui32>) -> (tensor<6x20xui32>) {
  %r = "stablehlo.xor"(%x, %y) : (tensor<6x20xui32>, tensor<6x20xui32>) -> tensor<6x20xui32>
  return %r : tensor<6x20xui32>
}

// stablehlo.shift_left
func.func @main(%x: tensor<6x20xui32>, %y: tensor<6x20xui32>) -> (tensor<6x20xui32>) {
  %r = "stablehlo.shift_left"(%x, %y) : (tensor<6x20xui32>, tensor<6x20xui32>) -> tensor<6x20xui32>
  return %r : tensor<6x20xui32>
}

// stablehlo.shift_right_logical
func.func @main(%x: tensor<6x20xui32>, %y: tensor<6x20xui32>) -> (tensor<6x20xui32>) {
  %r = "stablehlo.shift_right_logical"(%x, %y) : (tensor<6x20xui32>, tensor<6x20xui32>) -> tensor<6x20xui32>
  return %r : tensor<6x20xui32>
}

// stablehlo.remainder
func.func @main(%x: tensor<6x20xi32>, %y: tensor<6x20xi32>) -> (tensor<6x20xi32>) {
  %r = "stablehlo.remainder"(%x, %y) : (tensor<6x20xi32>, tensor<6x20xi32>) -> tensor<6x20xi32>
  return %r : tensor<6x20xi32>
}

// stablehlo.remainder
func.func @main(%x: tensor<6x20xf32>, %y: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.remainder"(%x, %y) : (tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.reduce_precision
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = stablehlo.reduce_precision %x, format = e8m7 : tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.exponential
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.exponential"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.log
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.log"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.log_plus_one
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.log_plus_one"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.exponential_minus_one
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.exponential_minus_one"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.tanh
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.tanh"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.sqrt
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.sqrt"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.rsqrt
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.rsqrt"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.sine
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.sine"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.cosine
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.cosine"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// chlo.square
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "chlo.square"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// chlo.cosh
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "chlo.cosh"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// mhlo.erf
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "mhlo.erf"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// mhlo.copy
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %0 = stablehlo.negate %x : tensor<6x20xf32>
  %r = "mhlo.copy"(%0) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// chlo.erfc
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "chlo.erfc"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// chlo.erf_inv
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "chlo.erf_inv"(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.reduce
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<6x20xf32>, tensor<f32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// stablehlo.reduce
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6xf32>) {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<6x20xf32>, tensor<f32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// stablehlo.reduce
func.func @main(%x: tensor<6x20xi1>) -> (tensor<6xi1>) {
  %c = stablehlo.constant dense<true> : tensor<i1>
  %r = stablehlo.reduce(%x init: %c) applies stablehlo.and across dimensions = [1] : (tensor<6x20xi1>, tensor<i1>) -> tensor<6xi1>
  return %r : tensor<6xi1>
}

// stablehlo.reduce
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<6x20xi32>
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %n = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.reduce(%x init: %c), (%i init: %n) across dimensions = [1] : (tensor<6x20xf32>, tensor<6x20xi32>, tensor<f32>, tensor<i32>) -> (tensor<6xf32>, tensor<6xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>)  {
    %0 = stablehlo.compare GT, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %1 = stablehlo.compare NE, %a, %a, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %2 = stablehlo.or %0, %1 : tensor<i1>
    %3 = stablehlo.compare EQ, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %4 = stablehlo.compare LT, %j, %k, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %5 = stablehlo.and %3, %4 : tensor<i1>
    %6 = stablehlo.or %2, %5 : tensor<i1>
    %7 = stablehlo.select %2, %a, %b : tensor<i1>, tensor<f32>
    %8 = stablehlo.select %6, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %7, %8 : tensor<f32>, tensor<i32>
  }
  return %r#1 : tensor<6xi32>
}

// stablehlo.reduce
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6xf32>) {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = "stablehlo.reduce"(%x, %c) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.maximum %a, %b : tensor<f32>
    %1 = stablehlo.subtract %a, %b : tensor<f32>
    %2 = stablehlo.compare NE, %1, %1 : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.add %a, %b : tensor<f32>
    %4 = stablehlo.abs %1 : tensor<f32>
    %5 = stablehlo.negate %4 : tensor<f32>
    %6 = stablehlo.exponential %5 : tensor<f32>
    %7 = stablehlo.log_plus_one %6 : tensor<f32>
    %8 = stablehlo.add %0, %7 : tensor<f32>
    %9 = stablehlo.select %2, %3, %8 : tensor<i1>, tensor<f32>
    stablehlo.return %9 : tensor<f32>
  }) : (tensor<6x20xf32>, tensor<f32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// stablehlo.reduce_window
func.func @main(%x: tensor<1x6x6x4xf32>) -> (tensor<1x3x3x4xf32>) {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = "stablehlo.reduce_window"(%x, %c) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<1x6x6x4xf32>, tensor<f32>) -> tensor<1x3x3x4xf32>
  return %r : tensor<1x3x3x4xf32>
}

// stablehlo.reduce_window
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%x, %c) <{padding = dense<[[0, 0], [19, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 20>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<6x20xf32>, tensor<f32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.select_and_scatter
func.func @main(%x: tensor<1x6x6x4xf32>, %y: tensor<1x3x3x4xf32>) -> (tensor<1x6x6x4xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.select_and_scatter"(%x, %y, %c) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<1x6x6x4xf32>, tensor<1x3x3x4xf32>, tensor<f32>) -> tensor<1x6x6x4xf32>
  return %r : tensor<1x6x6x4xf32>
}

// stablehlo.select_and_scatter (window of over 128 elements)
func.func @main(%x: tensor<1x24x24x4xf32>, %y: tensor<1x2x2x4xf32>) -> (tensor<1x24x24x4xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.select_and_scatter"(%x, %y, %c) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 12, 12, 1>, window_strides = array<i64: 1, 12, 12, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<1x24x24x4xf32>, tensor<1x2x2x4xf32>, tensor<f32>) -> tensor<1x24x24x4xf32>
  return %r : tensor<1x24x24x4xf32>
}

// stablehlo.broadcast_in_dim
func.func @main(%x: tensor<20xf32>) -> (tensor<6x20xf32>) {
  %r = stablehlo.broadcast_in_dim %x, dims = [1] : (tensor<20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.reshape
func.func @main(%x: tensor<6x20xf32>) -> (tensor<3x40xf32>) {
  %r = stablehlo.reshape %x : (tensor<6x20xf32>) -> tensor<3x40xf32>
  return %r : tensor<3x40xf32>
}

// stablehlo.transpose
func.func @main(%x: tensor<6x20xf32>) -> (tensor<20x6xf32>) {
  %r = stablehlo.transpose %x, dims = [1, 0] : (tensor<6x20xf32>) -> tensor<20x6xf32>
  return %r : tensor<20x6xf32>
}

// stablehlo.slice
func.func @main(%x: tensor<6x20xf32>) -> (tensor<3x16xf32>) {
  %r = stablehlo.slice %x [1:6:2, 2:18] : (tensor<6x20xf32>) -> tensor<3x16xf32>
  return %r : tensor<3x16xf32>
}

// stablehlo.concatenate
func.func @main(%x: tensor<6x20xf32>, %y: tensor<6x20xf32>) -> (tensor<6x40xf32>) {
  %r = stablehlo.concatenate %x, %y, dim = 1 : (tensor<6x20xf32>, tensor<6x20xf32>) -> tensor<6x40xf32>
  return %r : tensor<6x40xf32>
}

// stablehlo.pad
func.func @main(%x: tensor<6x20xf32>, %y: tensor<f32>) -> (tensor<12x25xf32>) {
  %r = stablehlo.pad %x, %y, low = [1, 2], high = [0, 3], interior = [1, 0] : (tensor<6x20xf32>, tensor<f32>) -> tensor<12x25xf32>
  return %r : tensor<12x25xf32>
}

// stablehlo.reverse
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = stablehlo.reverse %x, dims = [0] : tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.reverse
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = stablehlo.reverse %x, dims = [1] : tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.iota
func.func @main() -> (tensor<6x20xi32>) {
  %r = stablehlo.iota dim = 1 : tensor<6x20xi32>
  return %r : tensor<6x20xi32>
}

// stablehlo.constant
func.func @main() -> (tensor<3xf32>) {
  %r = stablehlo.constant dense<[1.5, -2.0, 0.25]> : tensor<3xf32>
  return %r : tensor<3xf32>
}

// stablehlo.gather
func.func @main(%x: tensor<6x20xf32>, %y: tensor<5x1xi32>) -> (tensor<5x20xf32>) {
  %r = "stablehlo.gather"(%x, %y) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 20>}> : (tensor<6x20xf32>, tensor<5x1xi32>) -> tensor<5x20xf32>
  return %r : tensor<5x20xf32>
}

// stablehlo.gather
func.func @main(%x: tensor<6x20xf32>, %y: tensor<6x1x1xi32>) -> (tensor<6x1xf32>) {
  %r = "stablehlo.gather"(%x, %y) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<6x20xf32>, tensor<6x1x1xi32>) -> tensor<6x1xf32>
  return %r : tensor<6x1xf32>
}

// stablehlo.scatter
func.func @main(%x: tensor<6x20xf32>, %y: tensor<5x1xi32>, %z: tensor<5x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.scatter"(%x, %y, %z) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<6x20xf32>, tensor<5x1xi32>, tensor<5x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.scatter
func.func @main(%x: tensor<6x20xf32>, %y: tensor<5x1xi32>, %z: tensor<5x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.scatter"(%x, %y, %z) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<6x20xf32>, tensor<5x1xi32>, tensor<5x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.scatter (of a maximum, over 2**20 comparisons)
func.func @main(%x: tensor<64x128xf32>, %y: tensor<256x1xi32>, %z: tensor<256x128xf32>) -> (tensor<64x128xf32>) {
  %r = "stablehlo.scatter"(%x, %y, %z) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<64x128xf32>, tensor<256x1xi32>, tensor<256x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}

// stablehlo.dynamic_slice
func.func @main(%x: tensor<6x20xf32>, %y: tensor<i32>, %z: tensor<i32>) -> (tensor<2x20xf32>) {
  %r = stablehlo.dynamic_slice %x, %y, %z, sizes = [2, 20] : (tensor<6x20xf32>, tensor<i32>, tensor<i32>) -> tensor<2x20xf32>
  return %r : tensor<2x20xf32>
}

// stablehlo.dynamic_update_slice
func.func @main(%x: tensor<6x20xf32>, %y: tensor<2x20xf32>, %z: tensor<i32>, %w: tensor<i32>) -> (tensor<6x20xf32>) {
  %r = stablehlo.dynamic_update_slice %x, %y, %z, %w : (tensor<6x20xf32>, tensor<2x20xf32>, tensor<i32>, tensor<i32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.sort
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.sort (of over 4,096)
func.func @main(%x: tensor<5000xf32>) -> (tensor<5000xf32>) {
  %r = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  }) : (tensor<5000xf32>) -> tensor<5000xf32>
  return %r : tensor<5000xf32>
}

// stablehlo.cholesky
func.func @main(%x: tensor<2x6x6xf32>) -> (tensor<2x6x6xf32>) {
  %0 = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [HIGHEST, HIGHEST] : (tensor<2x6x6xf32>, tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
  %r = stablehlo.cholesky %0, lower = true : tensor<2x6x6xf32>
  return %r : tensor<2x6x6xf32>
}

// stablehlo.triangular_solve
func.func @main(%x: tensor<6x6xf32>, %y: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.triangular_solve"(%x, %y) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<6x6xf32>, tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// chlo.top_k
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x3xf32>, tensor<6x3xi32>) {
  %r, %i = chlo.top_k(%x, k = 3) : tensor<6x20xf32> -> (tensor<6x3xf32>, tensor<6x3xi32>)
  return %r, %i : tensor<6x3xf32>, tensor<6x3xi32>
}

// chlo.top_k
func.func @main(%x: tensor<6x90xf32>) -> (tensor<6x65xf32>, tensor<6x65xi32>) {
  %r, %i = chlo.top_k(%x, k = 65) : tensor<6x90xf32> -> (tensor<6x65xf32>, tensor<6x65xi32>)
  return %r, %i : tensor<6x65xf32>, tensor<6x65xi32>
}

// chlo.top_k (k of over 64, of over 4,096)
func.func @main(%x: tensor<2x5000xf32>) -> (tensor<2x65xf32>, tensor<2x65xi32>) {
  %r, %i = chlo.top_k(%x, k = 65) : tensor<2x5000xf32> -> (tensor<2x65xf32>, tensor<2x65xi32>)
  return %r, %i : tensor<2x65xf32>, tensor<2x65xi32>
}

// func.call
func.func @main(%x: tensor<6x20xf32>) -> tensor<6x20xf32> {
  %r = call @twice(%x) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}
func.func private @twice(%x: tensor<6x20xf32>) -> tensor<6x20xf32> {
  %r = stablehlo.add %x, %x : tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.composite
func.func @main(%x: tensor<6x20xf32>) -> tensor<6x20xf32> {
  %r = stablehlo.composite "my.op" %x {decomposition = @my.op} : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}
func.func private @my.op(%x: tensor<6x20xf32>) -> tensor<6x20xf32> {
  %r = stablehlo.tanh %x : tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.while
func.func @main(%x: tensor<6x20xf32>, %y: tensor<i32>) -> (tensor<6x20xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c, %v = %x) : tensor<i32>, tensor<6x20xf32>
  cond {
    %0 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    %0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %0 : tensor<i32>
    %2 = stablehlo.add %v, %v : tensor<6x20xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<6x20xf32>
  }
  return %r#1 : tensor<6x20xf32>
}

// stablehlo.while
func.func @main(%x: tensor<6x20xf32>, %y: tensor<i32>) -> (tensor<6x20xf32>) {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %r:2 = stablehlo.while(%i = %c, %v = %x) : tensor<i32>, tensor<6x20xf32>
  cond {
    %0 = stablehlo.compare LT, %i, %y, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %0 : tensor<i1>
  } do {
    %0 = stablehlo.constant dense<1> : tensor<i32>
    %1 = stablehlo.add %i, %0 : tensor<i32>
    %2 = stablehlo.add %v, %v : tensor<6x20xf32>
    stablehlo.return %1, %2 : tensor<i32>, tensor<6x20xf32>
  }
  return %r#1 : tensor<6x20xf32>
}

// stablehlo.case
func.func @main(%x: tensor<6x20xf32>, %y: tensor<i32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.case"(%y) ({
    %0 = stablehlo.negate %x : tensor<6x20xf32>
    stablehlo.return %0 : tensor<6x20xf32>
  }, {
    %0 = stablehlo.add %x, %x : tensor<6x20xf32>
    stablehlo.return %0 : tensor<6x20xf32>
  }) : (tensor<i32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.optimization_barrier
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = stablehlo.optimization_barrier %x : tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.rng_bit_generator
func.func @main(%x: tensor<4xui32>) -> (tensor<9xui32>) {
  %0 = stablehlo.reshape %x : (tensor<4xui32>) -> tensor<2x2xui32>
  %1 = stablehlo.bitcast_convert %0 : (tensor<2x2xui32>) -> tensor<2xui64>
  %s, %r = stablehlo.rng_bit_generator %1, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<9xui32>)
  return %r : tensor<9xui32>
}

// stablehlo.all_reduce
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.all_reduce"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %0 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %0 : tensor<f32>
  }) : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.all_gather
func.func @main(%x: tensor<6x20xf32>) -> (tensor<6x20xf32>) {
  %r = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// stablehlo.partition_id
func.func @main() -> (tensor<ui32>) {
  %r = stablehlo.partition_id : tensor<ui32>
  return %r : tensor<ui32>
}

// sdy.manual_computation
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<6x20xf32>) -> tensor<6x20xf32> {
  %r = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<6x20xf32>) {
    %0 = stablehlo.tanh %a : tensor<6x20xf32>
    sdy.return %0 : tensor<6x20xf32>
  } : (tensor<6x20xf32>) -> tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}

// sdy.sharding_constraint
sdy.mesh @mesh = <["x"=1]>
func.func @main(%x: tensor<6x20xf32>) -> tensor<6x20xf32> {
  %r = sdy.sharding_constraint %x <@mesh, [{"x"}, {}]> : tensor<6x20xf32>
  return %r : tensor<6x20xf32>
}
