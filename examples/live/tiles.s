; A product that is larger than the array: 8 x 12 times 12 x 8, in tiles of 4 x 4.
        .chip   nano
        .buffer a, int8[8, 12], input
        .buffer b, int8[12, 8], input
        .buffer c, int32[8, 8], output
        load    ub[0], @a, fmt=i8, rows=8, cols=12, pitch=12, group_step=8   ; columns 0..3 of A, then 4..7, then 8..11
        load    ub[32], @b, fmt=i8, rows=12, cols=8, pitch=8, group_step=12  ; B likewise
        mov     r1, 0                           ; first row of the sums
        mov     r2, 32                          ; first row of the weights
        loop    2, done                         ; 4 columns of C each time
        matmul  acc[r1], ub[0], w=ub[r2], fmt=int8, n0=8, wrows=4
        add     r3, r2, 4
        matmul  acc[r1], ub[8], w=ub[r3], fmt=int8, accumulate, n0=8, wrows=4
        add     r3, r2, 8
        matmul  acc[r1], ub[16], w=ub[r3], fmt=int8, accumulate, n0=8, wrows=4
        add     r1, r1, 8
        add     r2, r2, 12
done:   store   acc[0], @c, fmt=w32, rows=8, cols=8, pitch=32, group_step=8
        halt
