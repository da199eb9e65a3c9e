/* io.d - files, buffers and devices: fds[N] is the file of a descriptor of the process. The names
 * that begin with _ are built in, arrays by descriptor. */
#pragma D depends_on library types.d

typedef struct bufinfo {
	int b_flags;			/* B_* */
	size_t b_bcount;		/* bytes */
	caddr_t b_addr;
	uint64_t b_lblkno;		/* block on the device */
	uint64_t b_blkno;
	size_t b_resid;			/* bytes not transferred */
	size_t b_bufsize;
	caddr_t b_iodone;
	int b_error;
	dev_t b_edev;
} bufinfo_t;

typedef struct devinfo {
	int dev_major;
	int dev_minor;
	int dev_instance;
	string dev_name;
	string dev_statname;
	string dev_pathname;
} devinfo_t;

typedef struct fileinfo {
	string fi_name;		/* the last part of its path */
	string fi_dirname;		/* the rest of it */
	string fi_pathname;		/* all of it */
	off_t fi_offset;		/* where it is read or written next */
	string fi_fs;		/* its file system */
	string fi_mount;		/* where that is mounted */
	int fi_oflags;			/* O_* */
} fileinfo_t;

translator fileinfo_t < int fd > {
	fi_name = basename(d_path((void *)_fd_path[fd]));
	fi_dirname = dirname(d_path((void *)_fd_path[fd]));
	fi_pathname = d_path((void *)_fd_path[fd]);
	fi_offset = _fd_offset[fd];
	fi_fs = stringof(_fd_fs[fd]);
	fi_mount = stringof(_fd_mount[fd]);
	fi_oflags = _fd_flags[fd];
};

inline fileinfo_t fds[int fd] = xlate <fileinfo_t> (fd);
#pragma D attributes Stable/Stable/Common fds
#pragma D binding "1.1" fds

/* Transfers of block devices. The lowest bit of cmd_flags is that of a write; numbers of devices are
 * those of the kernel, 12 bits and 20. Which file a transfer is of is not known. */
translator bufinfo_t < struct request *R > {
	b_flags = R->cmd_flags & 1 ? B_WRITE : B_READ;
	b_bcount = R->__data_len;
	b_bufsize = R->__data_len;
	b_lblkno = R->__sector;
	b_blkno = R->__sector;
	b_iodone = (caddr_t)R->end_io;
	b_edev = R->q->disk->part0->bd_dev;
};

translator devinfo_t < struct request *R > {
	dev_major = R->q->disk->part0->bd_dev >> 20;
	dev_minor = R->q->disk->part0->bd_dev & 0xfffff;
	dev_instance = R->q->disk->part0->bd_dev & 0xfffff;
	dev_name = stringof(R->q->disk->disk_name);
	dev_statname = stringof(R->q->disk->disk_name);
	dev_pathname = strjoin("/dev/", stringof(R->q->disk->disk_name));
};

translator fileinfo_t < struct request *R > {
	fi_name = "<unknown>";
	fi_dirname = "<unknown>";
	fi_pathname = "<unknown>";
	fi_offset = 0;
	fi_fs = "<unknown>";
	fi_mount = "<unknown>";
};
