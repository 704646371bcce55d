hw/prim/weft_axi_lite.sv
hw/top/weft_npu_axi.sv
