        .chip core4
        .name "dense 64-16 int8 batch 64"
        .arena 6272
        .buffer x, int8[64, 64], input, 0x0
        .buffer y, int8[64, 16], output, 0x1000
        .buffer constant, int32[16], constant, 0x1400
        .buffer constant.2, int32[16], constant, 0x1440
        .buffer constant.3, int8[1, 64, 16], constant, 0x1480
        load    acc[4], @constant, fmt=w32, rows=1, cols=16, group_step=1
        load    acc[8], @constant.2, fmt=w32, rows=1, cols=16, group_step=1
        load    ub[1024], @constant.3, fmt=i8, rows=4, cols=4, pitch=16
        load    ub[0], @x, fmt=i8, rows=32, cols=4, pitch=64
        load    ub[1088], @constant.3 + 0x4, fmt=i8, rows=4, cols=4, pitch=16
        load    ub[1028], @constant.3 + 0x40, fmt=i8, rows=4, cols=4, pitch=16
        load    ub[32], @x + 0x4, fmt=i8, rows=32, cols=4, pitch=64
        load    ub[1092], @constant.3 + 0x44, fmt=i8, rows=4, cols=4, pitch=16
        matmul  acc[12], ub[0], ub[1024], fmt=int8, n0=32, wrows=4
        load    ub[64], @x + 0x8, fmt=i8, rows=32, cols=8, pitch=64, group_step=32
        matmul  acc[44], ub[0], ub[1088], fmt=int8, n0=32, wrows=4
        load    ub[1032], @constant.3 + 0x80, fmt=i8, rows=8, cols=4, pitch=16
        matmul  acc[12], ub[32], ub[1028], fmt=int8, accumulate, n0=32, wrows=4
        load    ub[1096], @constant.3 + 0x84, fmt=i8, rows=8, cols=4, pitch=16
        load    ub[128], @x + 0x10, fmt=i8, rows=32, cols=8, pitch=64, group_step=32
        matmul  acc[44], ub[32], ub[1092], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[12], ub[64], ub[1032], fmt=int8, accumulate, n0=32, wrows=4
        load    ub[1040], @constant.3 + 0x100, fmt=i8, rows=8, cols=4, pitch=16
        load    ub[1104], @constant.3 + 0x104, fmt=i8, rows=8, cols=4, pitch=16
        load    ub[192], @x + 0x18, fmt=i8, rows=32, cols=8, pitch=64, group_step=32
        matmul  acc[12], ub[96], ub[1036], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[44], ub[64], ub[1096], fmt=int8, accumulate, n0=32, wrows=4
        load    ub[1048], @constant.3 + 0x180, fmt=i8, rows=8, cols=4, pitch=16
        load    ub[1112], @constant.3 + 0x184, fmt=i8, rows=8, cols=4, pitch=16
        matmul  acc[44], ub[96], ub[1100], fmt=int8, accumulate, n0=32, wrows=4
        load    ub[256], @x + 0x20, fmt=i8, rows=32, cols=8, pitch=64, group_step=32
        matmul  acc[12], ub[128], ub[1040], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[12], ub[160], ub[1044], fmt=int8, accumulate, n0=32, wrows=4
        load    ub[1056], @constant.3 + 0x200, fmt=i8, rows=8, cols=4, pitch=16
        load    ub[1120], @constant.3 + 0x204, fmt=i8, rows=8, cols=4, pitch=16
        load    ub[320], @x + 0x28, fmt=i8, rows=32, cols=8, pitch=64, group_step=32
        matmul  acc[44], ub[128], ub[1104], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[44], ub[160], ub[1108], fmt=int8, accumulate, n0=32, wrows=4
        load    ub[1064], @constant.3 + 0x280, fmt=i8, rows=8, cols=4, pitch=16
        load    ub[1128], @constant.3 + 0x284, fmt=i8, rows=8, cols=4, pitch=16
        matmul  acc[12], ub[192], ub[1048], fmt=int8, accumulate, n0=32, wrows=4
        load    ub[384], @x + 0x30, fmt=i8, rows=32, cols=8, pitch=64, group_step=32
        matmul  acc[12], ub[224], ub[1052], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[44], ub[192], ub[1112], fmt=int8, accumulate, n0=32, wrows=4
        load    ub[1072], @constant.3 + 0x300, fmt=i8, rows=8, cols=4, pitch=16
        load    ub[1136], @constant.3 + 0x304, fmt=i8, rows=8, cols=4, pitch=16
        load    ub[448], @x + 0x38, fmt=i8, rows=32, cols=8, pitch=64, group_step=32
        matmul  acc[44], ub[224], ub[1116], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[12], ub[256], ub[1056], fmt=int8, accumulate, n0=32, wrows=4
        load    ub[1080], @constant.3 + 0x380, fmt=i8, rows=8, cols=4, pitch=16
        load    ub[1144], @constant.3 + 0x384, fmt=i8, rows=8, cols=4, pitch=16
        matmul  acc[12], ub[288], ub[1060], fmt=int8, accumulate, n0=32, wrows=4
        load    ub[512], @x + 0x800, fmt=i8, rows=32, cols=64, pitch=64, group_step=32
        matmul  acc[44], ub[256], ub[1120], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[44], ub[288], ub[1124], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[12], ub[320], ub[1064], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[12], ub[352], ub[1068], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[44], ub[320], ub[1128], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[44], ub[352], ub[1132], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[12], ub[384], ub[1072], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[12], ub[416], ub[1076], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[44], ub[384], ub[1136], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[44], ub[416], ub[1140], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[12], ub[448], ub[1080], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[12], ub[480], ub[1084], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[44], ub[448], ub[1144], fmt=int8, accumulate, n0=32, wrows=4
        vector  requant, acc[12], acc[12], acc_row[4], acc_row[8], n0=32, zp=3, lo=3, hi=127
        matmul  acc[44], ub[480], ub[1148], fmt=int8, accumulate, n0=32, wrows=4
        vector  requant, acc[44], acc[44], acc_row[5], acc_row[9], n0=32, zp=3, lo=3, hi=127
        load    ub[1152], @constant.3 + 0x8, fmt=i8, rows=64, cols=4, pitch=16
        store   acc[12], @y, fmt=i8, rows=32, cols=8, pitch=16, group_step=32
        load    ub[1216], @constant.3 + 0xc, fmt=i8, rows=64, cols=4, pitch=16
        matmul  acc[76], ub[512], ub[1024], fmt=int8, n0=32, wrows=4
        mov     r0, 544
        mov     r1, 1028
        loop    15, L74
        matmul  acc[76], ub[r0], ub[r1], fmt=int8, accumulate, n0=32, wrows=4
        add     r0, r0, 32
        add     r1, r1, 4
L74:    matmul  acc[108], ub[512], ub[1088], fmt=int8, n0=32, wrows=4
        vector  requant, acc[76], acc[76], acc_row[4], acc_row[8], n0=32, zp=3, lo=3, hi=127
        mov     r0, 544
        mov     r1, 1092
        loop    15, L82
        matmul  acc[108], ub[r0], ub[r1], fmt=int8, accumulate, n0=32, wrows=4
        add     r0, r0, 32
        add     r1, r1, 4
L82:    matmul  acc[12], ub[0], ub[1152], fmt=int8, n0=32, wrows=4
        vector  requant, acc[108], acc[108], acc_row[5], acc_row[9], n0=32, zp=3, lo=3, hi=127
        matmul  acc[12], ub[32], ub[1156], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[12], ub[64], ub[1160], fmt=int8, accumulate, n0=32, wrows=4
        store   acc[76], @y + 0x200, fmt=i8, rows=32, cols=8, pitch=16, group_step=32
        mov     r0, 96
        mov     r1, 1164
        loop    13, L93
        matmul  acc[12], ub[r0], ub[r1], fmt=int8, accumulate, n0=32, wrows=4
        add     r0, r0, 32
        add     r1, r1, 4
L93:    matmul  acc[44], ub[0], ub[1216], fmt=int8, n0=32, wrows=4
        vector  requant, acc[12], acc[12], acc_row[6], acc_row[10], n0=32, zp=3, lo=3, hi=127
        mov     r0, 32
        mov     r1, 1220
        loop    15, L101
        matmul  acc[44], ub[r0], ub[r1], fmt=int8, accumulate, n0=32, wrows=4
        add     r0, r0, 32
        add     r1, r1, 4
L101:   matmul  acc[76], ub[512], ub[1152], fmt=int8, n0=32, wrows=4
        vector  requant, acc[44], acc[44], acc_row[7], acc_row[11], n0=32, zp=3, lo=3, hi=127
        matmul  acc[76], ub[544], ub[1156], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[76], ub[576], ub[1160], fmt=int8, accumulate, n0=32, wrows=4
        store   acc[12], @y + 0x8, fmt=i8, rows=32, cols=8, pitch=16, group_step=32
        mov     r0, 608
        mov     r1, 1164
        loop    13, L112
        matmul  acc[76], ub[r0], ub[r1], fmt=int8, accumulate, n0=32, wrows=4
        add     r0, r0, 32
        add     r1, r1, 4
L112:   matmul  acc[108], ub[512], ub[1216], fmt=int8, n0=32, wrows=4
        vector  requant, acc[76], acc[76], acc_row[6], acc_row[10], n0=32, zp=3, lo=3, hi=127
        matmul  acc[108], ub[544], ub[1220], fmt=int8, accumulate, n0=32, wrows=4
        matmul  acc[108], ub[576], ub[1224], fmt=int8, accumulate, n0=32, wrows=4
        store   acc[76], @y + 0x208, fmt=i8, rows=32, cols=4, pitch=16
        mov     r0, 608
        mov     r1, 1228
        loop    13, L123
        matmul  acc[108], ub[r0], ub[r1], fmt=int8, accumulate, n0=32, wrows=4
        add     r0, r0, 32
        add     r1, r1, 4
L123:   vector  requant, acc[108], acc[108], acc_row[7], acc_row[11], n0=32, zp=3, lo=3, hi=127
        store   acc[108], @y + 0x20c, fmt=i8, rows=32, cols=4, pitch=16
        halt
