; What a loop and a branch make of data: add up rows until the sum of lane 0 is above 200.
        .chip   nano
        .buffer x, int8[16, 4], input
        .buffer y, int32[1, 4], output
        load    acc[0], @x, fmt=i8, rows=16, cols=4, pitch=4
        vector  mov, acc[16], scalar[0], n0=1
        mov     r1, 0
more:   vector  iadd, acc[16], acc[16], acc[r1], n0=1
        add     r1, r1, 1
        read    r2, acc[16], 0                  ; waits until the sum is there
        bge     r2, 201, done
        blt     r1, 16, more
done:   store   acc[16], @y, fmt=w32, rows=1, cols=4
        halt
