/* procfs.d - the process and the thread that a probe fires in: curpsinfo, curlwpsinfo.
 *
 * A thread that fires a probe is running, so that its state is known. Sizes, times and arguments are
 * members without a translation: asking for them is an error. The names that begin with _ are built
 * in. */
#pragma D depends_on library types.d

typedef struct lwpsinfo {
	int pr_flag;			/* PR_* */
	id_t pr_lwpid;			/* its id */
	uintptr_t pr_addr;		/* address of the system's structure */
	uintptr_t pr_wchan;		/* what it waits for */
	char pr_stype;			/* type of what it waits for */
	char pr_state;			/* SRUN ... */
	char pr_sname;			/* the same as a letter */
	char pr_nice;
	short pr_syscall;
	char pr_oldpri;
	char pr_cpu;
	int pr_pri;			/* its priority */
	ushort_t pr_pctcpu;
	timestruc_t pr_start;
	timestruc_t pr_time;
	char pr_clname[8];
	char pr_name[16];		/* its name */
	processorid_t pr_onpro;		/* the processor that it runs on */
	processorid_t pr_bindpro;
	psetid_t pr_bindpset;
	int pr_lgrp;
} lwpsinfo_t;

typedef struct psinfo {
	int pr_flag;
	int pr_nlwp;			/* the thread that fires stands for its process: 1 */
	pid_t pr_pid;
	pid_t pr_ppid;			/* id of its parent */
	pid_t pr_pgid;			/* id of the leader of its group */
	pid_t pr_sid;			/* id of the leader of its session */
	uid_t pr_uid;			/* real user */
	uid_t pr_euid;			/* effective user */
	gid_t pr_gid;			/* real group */
	gid_t pr_egid;			/* effective group */
	uintptr_t pr_addr;		/* address of the system's structure */
	size_t pr_size;
	size_t pr_rssize;
	dev_t pr_ttydev;
	ushort_t pr_pctcpu;
	ushort_t pr_pctmem;
	timestruc_t pr_start;
	timestruc_t pr_time;
	timestruc_t pr_ctime;
	char pr_fname[16];		/* the name of its program */
	char pr_psargs[80];
	int pr_wstat;			/* it has not ended: 0 */
	int pr_argc;
	uintptr_t pr_argv;
	uintptr_t pr_envp;
	char pr_dmodel;			/* PR_MODEL_LP64 */
	taskid_t pr_taskid;		/* there are no tasks: 0 */
	projid_t pr_projid;
	int pr_nzomb;
	poolid_t pr_poolid;
	zoneid_t pr_zoneid;
	id_t pr_contract;
	lwpsinfo_t pr_lwp;
} psinfo_t;

/* The thread that a probe fires for: curthread, in every tier. */
translator psinfo_t < struct _thread *T > {
	pr_nlwp = 1;
	pr_pid = pid;
	pr_ppid = ppid;
	pr_pgid = _pgid;
	pr_sid = _sid;
	pr_uid = uid;
	pr_euid = _euid;
	pr_gid = gid;
	pr_egid = _egid;
	pr_addr = (uintptr_t)T;
	pr_fname = execname;
	pr_wstat = 0;
	pr_dmodel = 2;
	pr_taskid = 0;
	pr_projid = 0;
	pr_nzomb = 0;
	pr_poolid = 0;
	pr_zoneid = 0;
	pr_contract = 0;
};

translator lwpsinfo_t < struct _thread *T > {
	pr_flag = 0;
	pr_lwpid = tid;
	pr_addr = (uintptr_t)T;
	pr_wchan = 0;
	pr_stype = 0;
	pr_state = 2;
	pr_sname = 'R';
	pr_pri = _pri;
	pr_name = _lwpname;
	pr_onpro = cpu;
};

inline psinfo_t *curpsinfo = xlate <psinfo_t *> (curthread);
#pragma D attributes Stable/Stable/Common curpsinfo

inline lwpsinfo_t *curlwpsinfo = xlate <lwpsinfo_t *> (curthread);
#pragma D attributes Stable/Stable/Common curlwpsinfo

/* Another thread, that an argument of a kernel's probe names. What is running (TASK_RUNNING) is 0,
 * what is stopped 4, or 8 if a debugger stopped it. */
translator psinfo_t < struct task_struct *T > {
	pr_nlwp = T->signal->nr_threads;
	pr_pid = _number[(uintptr_t)T];
	pr_ppid = _number[(uintptr_t)T + 1];
	pr_pgid = _number[(uintptr_t)T + 2];
	pr_sid = _number[(uintptr_t)T + 3];
	pr_uid = T->real_cred->uid.val;
	pr_euid = T->real_cred->euid.val;
	pr_gid = T->real_cred->gid.val;
	pr_egid = T->real_cred->egid.val;
	pr_addr = (uintptr_t)T;
	pr_fname = stringof(T->group_leader->comm);
	pr_wstat = T->exit_code;
	pr_dmodel = 2;
	pr_taskid = 0;
	pr_projid = 0;
	pr_nzomb = 0;
	pr_poolid = 0;
	pr_zoneid = 0;
	pr_contract = 0;
};

translator lwpsinfo_t < struct task_struct *T > {
	pr_flag = 0;
	pr_lwpid = _number[(uintptr_t)T + 4];
	pr_addr = (uintptr_t)T;
	pr_wchan = 0;
	pr_stype = 0;
	pr_state = T->exit_state ? 3 : T->on_cpu ? 6 : T->__state == 0 ? 2 : (T->__state & 12) ? 4 : 1;
	pr_sname = T->exit_state ? 'Z' : T->on_cpu ? 'O' : T->__state == 0 ? 'R' : (T->__state & 12) ? 'T' : 'S';
	pr_nice = T->static_prio - 120;
	pr_pri = T->prio;
	pr_name = stringof(T->comm);
	pr_onpro = T->thread_info.cpu;
};
