        .chip edge
        .name "dense 40-24-10 int8 batch 48"
        .arena 4032
        .buffer x, int8[48, 40], input, 0x0
        .buffer y, int8[48, 10], output, 0x780
        .buffer constant, int32[24], constant, 0x980
        .buffer constant.2, int32[24], constant, 0xa00
        .buffer constant.3, int8[1, 40, 24], constant, 0xa80
        .buffer constant.4, int32[10], constant, 0xe40
        .buffer constant.5, int32[10], constant, 0xe80
        .buffer constant.6, int8[1, 24, 10], constant, 0xec0
        load    acc[4], @constant, fmt=w32, rows=1, cols=24, group_step=1
        load    acc[7], @constant.2, fmt=w32, rows=1, cols=24, group_step=1
        load    ub[240], @constant.3, fmt=i8, rows=8, cols=8, pitch=24
        load    ub[0], @x, fmt=i8, rows=24, cols=8, pitch=40
        load    ub[280], @constant.3 + 0x8, fmt=i8, rows=8, cols=8, pitch=24
        load    ub[248], @constant.3 + 0xc0, fmt=i8, rows=8, cols=8, pitch=24
        load    ub[24], @x + 0x8, fmt=i8, rows=24, cols=8, pitch=40
        load    ub[288], @constant.3 + 0xc8, fmt=i8, rows=8, cols=8, pitch=24
        matmul  acc[10], ub[0], ub[240], fmt=int8, n0=24, wrows=8
        load    ub[48], @x + 0x10, fmt=i8, rows=24, cols=16, pitch=40, group_step=24
        matmul  acc[34], ub[0], ub[280], fmt=int8, n0=24, wrows=8
        load    ub[256], @constant.3 + 0x180, fmt=i8, rows=16, cols=8, pitch=24
        matmul  acc[10], ub[24], ub[248], fmt=int8, accumulate, n0=24, wrows=8
        load    ub[296], @constant.3 + 0x188, fmt=i8, rows=16, cols=8, pitch=24
        matmul  acc[34], ub[24], ub[288], fmt=int8, accumulate, n0=24, wrows=8
        load    ub[272], @constant.3 + 0x300, fmt=i8, rows=8, cols=8, pitch=24
        load    ub[96], @x + 0x20, fmt=i8, rows=24, cols=8, pitch=40
        load    ub[312], @constant.3 + 0x308, fmt=i8, rows=8, cols=8, pitch=24
        load    ub[120], @x + 0x3c0, fmt=i8, rows=24, cols=40, pitch=40, group_step=24
        matmul  acc[10], ub[48], ub[256], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[10], ub[72], ub[264], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[34], ub[48], ub[296], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[34], ub[72], ub[304], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[10], ub[96], ub[272], fmt=int8, accumulate, n0=24, wrows=8
        load    ub[320], @constant.3 + 0x10, fmt=i8, rows=40, cols=8, pitch=24
        matmul  acc[34], ub[96], ub[312], fmt=int8, accumulate, n0=24, wrows=8
        vector  requant, ub_i8[8048], acc[10], acc_row[4], acc_row[7], n0=24, zp=3, lo=3, hi=127
        load    acc[108], @constant.4, fmt=w32, rows=1, cols=10, group_step=1
        load    acc[110], @constant.5, fmt=w32, rows=1, cols=10, group_step=1
        load    ub[360], @constant.6, fmt=i8, rows=24, cols=8, pitch=10
        vector  requant, ub_i8[8096], acc[34], acc_row[5], acc_row[8], n0=24, zp=3, lo=3, hi=127
        matmul  acc[10], ub[0], ub[320], fmt=int8, n0=24, wrows=8
        load    ub[384], @constant.6 + 0x8, fmt=i8, rows=24, cols=2, pitch=10
        matmul  acc[58], ub[120], ub[240], fmt=int8, n0=24, wrows=8
        matmul  acc[58], ub[144], ub[248], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[58], ub[168], ub[256], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[58], ub[192], ub[264], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[58], ub[216], ub[272], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[82], ub[120], ub[280], fmt=int8, n0=24, wrows=8
        matmul  acc[82], ub[144], ub[288], fmt=int8, accumulate, n0=24, wrows=8
        vector  requant, ub_i8[8072], acc[58], acc_row[4], acc_row[7], n0=24, zp=3, lo=3, hi=127
        matmul  acc[82], ub[168], ub[296], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[82], ub[192], ub[304], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[82], ub[216], ub[312], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[10], ub[24], ub[328], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[10], ub[48], ub[336], fmt=int8, accumulate, n0=24, wrows=8
        vector  requant, ub_i8[8120], acc[82], acc_row[5], acc_row[8], n0=24, zp=3, lo=3, hi=127
        matmul  acc[10], ub[72], ub[344], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[10], ub[96], ub[352], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[58], ub[120], ub[320], fmt=int8, n0=24, wrows=8
        matmul  acc[58], ub[144], ub[328], fmt=int8, accumulate, n0=24, wrows=8
        vector  requant, ub_i8[8144], acc[10], acc_row[6], acc_row[9], n0=24, zp=3, lo=3, hi=127
        matmul  acc[58], ub[168], ub[336], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[58], ub[192], ub[344], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[58], ub[216], ub[352], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[112], ub[8048], ub[360], fmt=int8, n0=24, wrows=8
        matmul  acc[112], ub[8096], ub[368], fmt=int8, accumulate, n0=24, wrows=8
        vector  requant, ub_i8[8168], acc[58], acc_row[6], acc_row[9], n0=24, zp=3, lo=3, hi=127
        matmul  acc[112], ub[8144], ub[376], fmt=int8, accumulate, n0=24, wrows=8
        matmul  acc[136], ub[8048], ub[384], fmt=int8, n0=24, wrows=8
        matmul  acc[136], ub[8096], ub[392], fmt=int8, accumulate, n0=24, wrows=8
        vector  requant, acc[160], acc[112], acc_row[108], acc_row[110], n0=24, zp=3, lo=-128, hi=127
        matmul  acc[136], ub[8144], ub[400], fmt=int8, accumulate, n0=24, wrows=8
        store   acc[160], @y, fmt=i8, rows=24, cols=8, pitch=10
        matmul  acc[112], ub[8072], ub[360], fmt=int8, n0=24, wrows=8
        matmul  acc[112], ub[8120], ub[368], fmt=int8, accumulate, n0=24, wrows=8
        vector  requant, acc[184], acc[136], acc_row[109], acc_row[111], n0=24, zp=3, lo=-128, hi=127
        matmul  acc[112], ub[8168], ub[376], fmt=int8, accumulate, n0=24, wrows=8
        store   acc[184], @y + 0x8, fmt=i8, rows=24, cols=2, pitch=10
        matmul  acc[136], ub[8072], ub[384], fmt=int8, n0=24, wrows=8
        matmul  acc[136], ub[8120], ub[392], fmt=int8, accumulate, n0=24, wrows=8
        vector  requant, acc[160], acc[112], acc_row[108], acc_row[110], n0=24, zp=3, lo=-128, hi=127
        matmul  acc[136], ub[8168], ub[400], fmt=int8, accumulate, n0=24, wrows=8
        store   acc[160], @y + 0xf0, fmt=i8, rows=24, cols=8, pitch=10
        vector  requant, acc[184], acc[136], acc_row[109], acc_row[111], n0=24, zp=3, lo=-128, hi=127
        store   acc[184], @y + 0xf8, fmt=i8, rows=24, cols=2, pitch=10
        halt
