        .chip edge
        .name "dense 48-96 int8 batch 40"
        .arena 11136
        .buffer x, int8[40, 48], input, 0x0
        .buffer y, int8[40, 96], output, 0x780
        .buffer constant, int32[96], constant, 0x1680
        .buffer constant.2, int32[96], constant, 0x1800
        .buffer constant.3, int8[48, 96], constant, 0x1980
        load    acc[4], @constant, fmt=w32, rows=1, cols=96, group_step=1
        load    acc[16], @constant.2, fmt=w32, rows=1, cols=96, group_step=1
        load    ub[240], @constant.3, fmt=i8, rows=8, cols=8, pitch=96
        load    ub[0], @x, fmt=i8, rows=40, cols=8, pitch=48
        load    ub[248], @constant.3 + 0x300, fmt=i8, rows=8, cols=8, pitch=96
        load    ub[40], @x + 0x8, fmt=i8, rows=40, cols=8, pitch=48
        matmul  acc[28], ub[0], ub[240], fmt=int8, n0=40, wrows=8
        load    ub[256], @constant.3 + 0x600, fmt=i8, rows=8, cols=8, pitch=96
        load    ub[80], @x + 0x10, fmt=i8, rows=40, cols=8, pitch=48
        matmul  acc[28], ub[40], ub[248], fmt=int8, accumulate, n0=40, wrows=8
        load    ub[264], @constant.3 + 0x900, fmt=i8, rows=8, cols=8, pitch=96
        load    ub[120], @x + 0x18, fmt=i8, rows=40, cols=8, pitch=48
        matmul  acc[28], ub[80], ub[256], fmt=int8, accumulate, n0=40, wrows=8
        load    ub[272], @constant.3 + 0xc00, fmt=i8, rows=8, cols=8, pitch=96
        load    ub[160], @x + 0x20, fmt=i8, rows=40, cols=8, pitch=48
        matmul  acc[28], ub[120], ub[264], fmt=int8, accumulate, n0=40, wrows=8
        load    ub[280], @constant.3 + 0xf00, fmt=i8, rows=8, cols=8, pitch=96
        load    ub[200], @x + 0x28, fmt=i8, rows=40, cols=8, pitch=48
        matmul  acc[28], ub[160], ub[272], fmt=int8, accumulate, n0=40, wrows=8
        load    ub[288], @constant.3 + 0x8, fmt=i8, rows=48, cols=8, pitch=96
        matmul  acc[28], ub[200], ub[280], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[68], ub[0], ub[288], fmt=int8, n0=40, wrows=8
        vector  requant, acc[28], acc[28], acc_row[4], acc_row[16], n0=40, zp=3, lo=3, hi=127
        load    ub[240], @constant.3 + 0x10, fmt=i8, rows=48, cols=8, pitch=96
        matmul  acc[68], ub[40], ub[296], fmt=int8, accumulate, n0=40, wrows=8
        store   acc[28], @y, fmt=i8, rows=40, cols=8, pitch=96
        matmul  acc[68], ub[80], ub[304], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[68], ub[120], ub[312], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[68], ub[160], ub[320], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[68], ub[200], ub[328], fmt=int8, accumulate, n0=40, wrows=8
        mov     r0, 5
        mov     r1, 17
        mov     r2, @constant.3 + 0x18
        mov     r3, @y + 0x8
        mov     r4, 6
        mov     r5, 18
        mov     r6, @constant.3 + 0x20
        mov     r7, @y + 0x10
        loop    4, L65
        matmul  acc[28], ub[0], ub[240], fmt=int8, n0=40, wrows=8
        vector  requant, acc[68], acc[68], acc_row[r0], acc_row[r1], n0=40, zp=3, lo=3, hi=127
        load    ub[288], r2, fmt=i8, rows=48, cols=8, pitch=96
        matmul  acc[28], ub[40], ub[248], fmt=int8, accumulate, n0=40, wrows=8
        store   acc[68], r3, fmt=i8, rows=40, cols=8, pitch=96
        matmul  acc[28], ub[80], ub[256], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[28], ub[120], ub[264], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[28], ub[160], ub[272], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[28], ub[200], ub[280], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[68], ub[0], ub[288], fmt=int8, n0=40, wrows=8
        vector  requant, acc[28], acc[28], acc_row[r4], acc_row[r5], n0=40, zp=3, lo=3, hi=127
        load    ub[240], r6, fmt=i8, rows=48, cols=8, pitch=96
        matmul  acc[68], ub[40], ub[296], fmt=int8, accumulate, n0=40, wrows=8
        store   acc[28], r7, fmt=i8, rows=40, cols=8, pitch=96
        matmul  acc[68], ub[80], ub[304], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[68], ub[120], ub[312], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[68], ub[160], ub[320], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[68], ub[200], ub[328], fmt=int8, accumulate, n0=40, wrows=8
        add     r0, r0, 2
        add     r1, r1, 2
        add     r2, r2, 16
        add     r3, r3, 16
        add     r4, r4, 2
        add     r5, r5, 2
        add     r6, r6, 16
        add     r7, r7, 16
L65:    load    ub[288], @constant.3 + 0x58, fmt=i8, rows=48, cols=8, pitch=96
        matmul  acc[28], ub[0], ub[240], fmt=int8, n0=40, wrows=8
        vector  requant, acc[68], acc[68], acc_row[13], acc_row[25], n0=40, zp=3, lo=3, hi=127
        matmul  acc[28], ub[40], ub[248], fmt=int8, accumulate, n0=40, wrows=8
        store   acc[68], @y + 0x48, fmt=i8, rows=40, cols=8, pitch=96
        matmul  acc[28], ub[80], ub[256], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[28], ub[120], ub[264], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[28], ub[160], ub[272], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[28], ub[200], ub[280], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[68], ub[0], ub[288], fmt=int8, n0=40, wrows=8
        vector  requant, acc[28], acc[28], acc_row[14], acc_row[26], n0=40, zp=3, lo=3, hi=127
        matmul  acc[68], ub[40], ub[296], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[68], ub[80], ub[304], fmt=int8, accumulate, n0=40, wrows=8
        store   acc[28], @y + 0x50, fmt=i8, rows=40, cols=8, pitch=96
        matmul  acc[68], ub[120], ub[312], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[68], ub[160], ub[320], fmt=int8, accumulate, n0=40, wrows=8
        matmul  acc[68], ub[200], ub[328], fmt=int8, accumulate, n0=40, wrows=8
        vector  requant, acc[68], acc[68], acc_row[15], acc_row[27], n0=40, zp=3, lo=3, hi=127
        store   acc[68], @y + 0x58, fmt=i8, rows=40, cols=8, pitch=96
        halt
