; A dense layer: a product, a bias for each column, and what is negative becomes 0.
        .chip   nano
        .buffer x, int8[8, 4], input
        .buffer w, int8[4, 4], input
        .buffer bias, int32[1, 4], constant
        .data   bias, 1000, -2000, 3000, -4000
        .buffer y, int32[8, 4], output
        load    ub[0], @x, fmt=i8, rows=8, cols=4, pitch=4
        load    ub[8], @w, fmt=i8, rows=4, cols=4, pitch=4
        load    acc[12], @bias, fmt=w32, rows=1, cols=4
        matmul  acc[0], ub[0], w=ub[8], fmt=int8, n0=8, wrows=4
        vector  iadd, acc[0], acc[0], acc_row[12], post=relu_i, n0=8
        store   acc[0], @y, fmt=w32, rows=8, cols=4, pitch=16
        halt
