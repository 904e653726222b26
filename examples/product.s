        .chip   nano
        .buffer a, int8[8, 4], input
        .buffer b, int8[4, 4], input
        .buffer c, int32[8, 4], output
        load    ub[0], @a, fmt=i8, rows=8, cols=4, pitch=4      ; rows 0..7: A
        load    ub[8], @b, fmt=i8, rows=4, cols=4, pitch=4      ; rows 8..11: B
        matmul  acc[0], ub[0], w=ub[8], fmt=int8, n0=8, wrows=4 ; acc[i] = sum of A[i][k] * B[k]
        store   acc[0], @c, fmt=w32, rows=8, cols=4, pitch=16
        halt
