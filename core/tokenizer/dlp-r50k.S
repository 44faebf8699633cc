/* SPDX-License-Identifier: MIT */
/* The rank file of gpt2 and r50k_base, as it is. */
        .section .rodata
        .hidden dlp_r50k_start
        .global dlp_r50k_start
        .hidden dlp_r50k_end
        .global dlp_r50k_end
dlp_r50k_start:
        .incbin DLP_R50K_FILE
dlp_r50k_end:
        .byte 0
#if defined(__linux__) && defined(__ELF__)
        .section .note.GNU-stack, "", %progbits
#endif
