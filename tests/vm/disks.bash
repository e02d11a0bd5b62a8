# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# The disks of a guest. Each is a sparse file, new with every boot; the guest's tests find it by its name, which is its
# serial number (disk, in guest.bash).

# disk NAME SIZE DEVICE,PROPERTIES [DRIVE-PROPERTIES]: adds to the array `qemu`; files go to $work.
disk() {
	truncate -s "$2" "$work/$1.disk"
	qemu+=(-drive "file=$work/$1.disk,format=raw,if=none,id=$1,cache=unsafe${4:+,$4}"
		-device "${3%%,*},drive=$1,serial=$1$([[ $3 != *,* ]] || printf ',%s' "${3#*,}")")
}

# virtio-blk passes on every property of a disk, wrong ones included; SCSI alone tells whether a disk rotates.
disks() {
	disk d512n 80M virtio-blk-pci,discard=off
	disk d512e 80M virtio-blk-pci,logical_block_size=512,physical_block_size=4096
	disk d4kn 80M virtio-blk-pci,logical_block_size=4096,physical_block_size=4096
	disk odd $((80 * 1024 * 1024 + 1536)) virtio-blk-pci
	disk optio 80M virtio-blk-pci,opt_io_size=33553920
	disk readonly 80M virtio-blk-pci,discard=off readonly=on
	disk trim 80M virtio-blk-pci,discard=on discard=unmap
	disk big 3T virtio-blk-pci
	qemu+=(-device virtio-scsi-pci,id=scsi)
	disk rotates 80M scsi-hd,bus=scsi.0,rotation_rate=7200
	disk flash 80M scsi-hd,bus=scsi.0,rotation_rate=1
	disk spare 144M virtio-blk-pci
}
