/* SPDX-License-Identifier: MIT
 * A tree shared by processes that may die at any step, with stocks that other processes close.
 *
 * Levels A and, above it, R are in the segment; the limit is A's. Each process has one thread here,
 * a stock of one word, and in its slot what it has charged (used) and what closings gave back of
 * that (owed, with the number of the last closing in the same word). With FORK, process 0 leaves an
 * image to itself and to process 1, its child; else both are there from the start. The owner changes
 * its stock by an unlocked load and store: the store may wait in its buffer while others swap the
 * word. A membarrier waits until that is empty. Death is told by the kernel and is final. One
 * atomic {} is one atomic step. The words are explained in docs/shared-trees.md. Checked:
 *   usage is never above max, and never below what the living have;
 *   a refusal only if at some instant of the call what the living had and the request exceeded max;
 *   after a recovery usage is what the slots say; at the end the slots say what there is;
 *   a stock that is closed, reopened, or left by a dead closer loses no byte and counts none twice;
 *   nobody is stuck.
 *   spin FLAGS -a shared.pml && gcc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m1000000
 * Checked exhaustively (spin 6.5.2, gcc 12.2, a busy machine), 0 errors:
 *   -DKILLS=1 -DOPS1=1                                       0.6 M states    3 s
 *   -DKILLS=0 -DOPS0=2                                       0.4 M states    5 s
 *   -DKILLS=1                                                2.6 M states   24 s
 *   -DKILLS=1 -DTWO=t==1                                     7.7 M states   66 s
 *   -DKILLS=2                                               27.5 M states  496 s
 * Errors expected: -DS1 (a word is swapped before what it held is recorded); -DS2 (no membarrier);
 *   -DS3 (what a dead closer recorded counts as given back); -DS4 (frees not in flight against a
 *   recovery); -DS5 (refuse with a dead one not recovered); -DKILLS=2 -DOPS1=1 -DS6 (a dead recoverer
 *   is not replaced); -DKILLS=0 -DFORK -DOPS0=2 -DOPS1=3 -DMAX=4 -DS7 (frees of who holds an image
 *   are not stopped by a freeze); -DS8 (the dead are forgotten before usage is set); -DS9 (asked who
 *   is dead, but not whether somebody has just been recovered); -DKILLS=0 -DOPS0=2 -DS10 (what was
 *   given back is not said for good before the number of the closing changes). */
#ifndef MAX
#define MAX 3
#endif
#ifndef OPS0
#define OPS0 1          /* calls of process 0 ... */
#endif
#ifndef OPS1
#define OPS1 2          /* ... and of process 1 */
#endif
#define OPS (t==0 -> OPS0 : OPS1)
#ifndef KILLS
#define KILLS 1
#endif
#define SIZE (t==0 -> 2 : 1)
#ifndef TWO
#define TWO 0           /* who charges 1 or 2 */
#endif
#define BATCH 2
#define CAP 2           /* a free never fills a stock above this */
#define R 0
#define A 1
#define CL (-100)
#define CLOSED(v) ((v)<CL/2)
#define NP 3            /* 0 and 1 charge; 2 only recovers */

/* The segment. */
byte usage[2];
byte frz;               /* exclusive mode at A: 0 or who, +1 */
byte rec;               /* recovery: 0 or who, +1 */
byte nrec;              /* recoveries so far, counted before the dead are forgotten */
byte infl[NP];          /* 0; 1 charging or deciding; 2 uncharging */
byte used[NP];          /* charged by the process, its stock and its image included */
byte owed[NP];          /* of that, given back by closings, and ... */
bool round[NP];         /* ... the number of the last of them, in the same word */
short word[NP] = CL;    /* the stock */
byte taken[NP];         /* what it held when it was closed ... */
bool stamp[NP];         /* ... by the closing with this number */
bool given[NP];         /* it was given back, whatever the number of the last closing is now */
byte ibytes;            /* the image: its bytes; who holds it; merged into its only holder */
bool holds[NP], merged;

/* Not in the segment. */
bool busy[NP];          /* the owner's store is in its buffer */
short buf[NP];
bool alive[NP], gone[NP], fin[NP];
byte obj[NP];           /* ghost: objects, those of the image included */
byte pend[NP];          /* ghost: of an object being freed directly */
byte need[NP];          /* ghost: the size that is asked for ... */
bool wit[NP];           /* ghost: ... and did not fit at some instant of the call */

#define OPEN(u)  ((CLOSED(word[u]) || word[u]<0) -> 0 : word[u])
#ifdef S3
#define GIVEN(u) (CLOSED(word[u]) && taken[u]>0)
#else
#define GIVEN(u) (CLOSED(word[u]) && taken[u]>0 && (given[u] || stamp[u]==round[u]))
#endif
#ifdef S10
#define MARK skip
#else
#define MARK given[s]=1
#endif
#define BASE(u)  ((holds[u] && !merged) -> ibytes : 0)
#define OWN(u)   (used[u]>owed[u]+BASE(u) -> used[u]-owed[u]-BASE(u) : 0)
#define SAYS(u)  (gone[u] -> 0 : OWN(u))
#define HOLDER(u) (holds[u] && !gone[u])
#define IMAGE    ((!merged && (HOLDER(0)||HOLDER(1))) -> ibytes : 0)
/* What the living really have. */
#define REAL(u)  (alive[u] -> (obj[u]>BASE(u) -> obj[u]-BASE(u) : 0) : 0)
#define RIMAGE   ((!merged && ((alive[0]&&holds[0])||(alive[1]&&holds[1]))) -> ibytes : 0)
#define LIVING   (REAL(0)+REAL(1)+RIMAGE)
/* The same, with what is just being freed. */
#define THERE(u) ((alive[u] && obj[u]+pend[u]>BASE(u)) -> obj[u]+pend[u]-BASE(u) : 0)
#define DEAD(u)  (!alive[u] && !gone[u])
#define ANYDEAD  (DEAD(0)||DEAD(1)||DEAD(2))
#define DEADH(w) (w!=0 && !alive[w-1])
#ifdef S5
#define UNREC 0
#else
#define UNREC ANYDEAD   /* never refuse while a dead one is not recovered */
#endif

inline check() { assert(usage[A]<=MAX && usage[A]>=LIVING && usage[R]>=LIVING) }
inline witness() {
	wit[0] = wit[0] || (need[0]>0 && THERE(0)+THERE(1)+RIMAGE+need[0]>MAX);
	wit[1] = wit[1] || (need[1]>0 && THERE(0)+THERE(1)+RIMAGE+need[1]>MAX) }
#ifdef S7
#define IMAGED 0
#else
#define IMAGED holds[t]
#endif
/* By how much what the slot says changes when used grows or falls by n. */
#define UP(u,n)   ((used[u]+n>owed[u]+BASE(u) -> used[u]+n-owed[u]-BASE(u) : 0) - OWN(u))
#define DOWN(u,n) (OWN(u) - (used[u]>n+owed[u]+BASE(u) -> used[u]-n-owed[u]-BASE(u) : 0))
inline add(l, v) { usage[l] = usage[l]+v; check() }
inline sub(l, v) { assert(usage[l]>=v); usage[l] = usage[l]-v; check() }
inline clear() { m=0; d=0; k=0; s=0; dead=0; v=0 }

proctype P(byte t) {
	byte n, m, d, k, s, dead, ops; short v; bool q, free;
	{
		skip;
idle:
		atomic { n=0; free=0; need[t]=0; wit[t]=0; clear() }
end_idle:
		if
		:: atomic { t<2 && ops<OPS -> ops++; if :: n=SIZE :: TWO -> n=2 fi; need[t]=n; witness() }; goto again
		:: atomic { t<2 && ops<OPS && obj[t]>=1 -> ops++; if :: n=1 :: obj[t]>=2 && (TWO || SIZE==2) -> n=2 fi; free=1 }; goto release
#ifdef FORK
		:: atomic { t==0 && !holds[0] && obj[0]>0 -> free=1 }; goto fork
#endif
		:: atomic { t==2 && ANYDEAD }; goto recover
		:: atomic { t==2 && (fin[0]||!alive[0]) && (fin[1]||!alive[1]) && !ANYDEAD }; goto bye
		:: atomic { t<2 -> q=1; n=0; free=1 }; goto release
		fi;

again:          /* ---- fast path: subtract; what it leaves is in the buffer */
		atomic { clear(); v=word[t]-n;
			if :: CLOSED(word[t]) -> goto slow
			   :: else -> buf[t]=v; busy[t]=1; if :: v>=0 -> obj[t]=obj[t]+n; witness(); check() :: else fi fi };
		atomic { word[t]=buf[t]; busy[t]=0; if :: v>=0 -> goto idle :: else fi };
		atomic { if :: !CLOSED(word[t]) -> word[t]=word[t]+n :: else -> word[t]=CL fi; v=0 }; /* locked */
slow:           /* ---- in flight */
		infl[t]=1;
		if :: atomic { frz!=0 || rec!=0 -> goto backoff } :: atomic { frz==0 && rec==0 } fi;
settle:         /* a closed word's bytes: given back already, or kept by one who died closing */
		if
		:: atomic { GIVEN(t) -> k=taken[t]; owed[t]=owed[t]-k }; used[t]=used[t]-k; atomic { taken[t]=0; given[t]=0; k=0 }
		:: atomic { CLOSED(word[t]) && !GIVEN(t) && taken[t]>0 -> word[t]=taken[t]; taken[t]=0 }
		:: else -> skip
		fi;
		if
		:: atomic { free && q } -> goto leave
		:: atomic { free && !q && n>0 } -> goto direct
#ifdef FORK
		:: atomic { free && !q && n==0 } -> goto makeimage
#endif
		:: atomic { !free && !CLOSED(word[t]) && word[t]>=n -> word[t]=word[t]-n; obj[t]=obj[t]+n; witness(); check() };
		   infl[t]=0; goto idle
		:: atomic { !free && (CLOSED(word[t]) || word[t]<n) -> if :: m=n :: n<BATCH -> m=BATCH fi;
			d=UP(t,m) }
		fi;
		used[t]=used[t]+m;                              /* before usage is raised */
		if :: atomic { usage[A]+d<=MAX -> add(A,d) } :: atomic { usage[A]+d>MAX -> goto undo } fi;
		atomic { add(R,d) };
		atomic { if :: CLOSED(word[t]) -> word[t]=m-n :: else -> word[t]=word[t]+m-n fi;
			obj[t]=obj[t]+n; witness(); check() };
		infl[t]=0; goto idle;
undo:
		used[t]=used[t]-m; infl[t]=0; goto excl;
backoff:
		infl[t]=0;
wait:
		if :: atomic { frz==0 && rec==0 -> if :: free && n==0 && !q -> goto fork :: free && (n>0 || q) -> goto release :: else -> goto again fi }
		   :: atomic { DEADH(frz) || DEADH(rec) -> goto recover } fi;

excl:           /* ---- decide at A */
		if :: atomic { frz==0 -> frz=t+1; clear() } :: atomic { DEADH(frz) -> goto recover } fi;
		do
		:: atomic { s<NP && (s==t || infl[s]!=1 || !alive[s]) -> s++ }
		:: atomic { s==NP -> s=0; break }
		od;
		infl[t]=1;
		if :: rec==0 :: atomic { rec!=0 -> infl[t]=0 }; frz=0; goto wait fi;
close:          /* each stock of another: record, exchange, barrier, look again */
		if :: atomic { s==2 -> s=0; k=0; goto closed }
		   :: atomic { s<2 && (DEAD(s) || gone[s] || (s!=t && CLOSED(word[s]) && taken[s]==0)) -> s++; goto close }
		   /* Of the last closing, and not settled: said for good before the number changes. */
		   :: atomic { s<2 && s!=t && !DEAD(s) && !gone[s] && GIVEN(s) -> MARK }; round[s]=!round[s]; atomic { s++; goto close }
		   /* One's own: given back by whom it is, unless another did so already. */
		   :: atomic { s==t && GIVEN(t) -> k=taken[t]; owed[t]=owed[t]-k }; used[t]=used[t]-k;
		      atomic { taken[t]=0; given[t]=0; k=0; s++; goto close }
		   :: atomic { s==t && s<2 && !GIVEN(t) -> if :: CLOSED(word[t]) -> k=taken[t] :: else -> k=OPEN(t) fi;
		      word[t]=CL; taken[t]=0; d=DOWN(t,k) };
		      atomic { sub(A,d) }; atomic { sub(R,d) }; used[t]=used[t]-k; atomic { k=0; d=0; s++; goto close }
		   /* Left by one who died closing: adopted. */
		   :: atomic { s<2 && s!=t && !DEAD(s) && !gone[s] && CLOSED(word[s]) && taken[s]>0 && !GIVEN(s) } -> goto barrier
		   :: atomic { s<2 && s!=t && !DEAD(s) && !gone[s] && !CLOSED(word[s]) && word[s]>=0 -> v=word[s] }
		   /* Overdrawn: the owner comes, or has died. */
		fi;
#ifndef S1
		atomic { taken[s]=v; stamp[s]=!round[s] };
#endif
		atomic { if :: word[s]==v -> word[s]=CL :: else -> goto close fi };
#ifdef S1
		atomic { taken[s]=v; stamp[s]=!round[s] };
#endif
barrier:
#ifndef S2
		if :: atomic { !busy[s] || !alive[s] } fi;
		if :: atomic { !CLOSED(word[s]) && !DEAD(s) -> goto close } :: else fi;
#endif
		/* Given back, by one step on the slot; only then is usage lowered. */
		atomic { k=taken[s]; d=OWN(s);
			if :: k>0 -> owed[s]=owed[s]+k; round[s]=stamp[s] :: else fi; d=d-OWN(s) };
		atomic { sub(A,d) }; atomic { sub(R,d) };
		atomic { k=0; d=0; v=0; s++ }; goto close;
closed:
		atomic { m=nrec; d=UP(t,n) }; used[t]=used[t]+n;
		if
		:: atomic { usage[A]+d<=MAX -> add(A,d) };
		   atomic { add(R,d) };
		   atomic { obj[t]=obj[t]+n; witness(); check() };
		   infl[t]=0; frz=0; goto idle
		:: atomic { usage[A]+d>MAX }; atomic { used[t]=used[t]-n }; infl[t]=0; frz=0;
		   if
		   :: atomic { UNREC } -> goto recover
		   /* All that were there at the failed add are alive: a refusal, the only one. */
		   :: atomic { !UNREC && m==nrec -> assert(wit[t]) }; goto idle
#ifdef S9
		   :: atomic { !UNREC && m!=nrec -> assert(wit[t]) }; goto idle
#else
		   :: atomic { !UNREC && m!=nrec } -> goto again
#endif
		   fi
		fi;

release:        /* ---- free n, or (q) leave with one's stock given back */
		if
		:: atomic { !q && !busy[t] && !CLOSED(word[t]) && word[t]>=0 && word[t]+n<=CAP ->
			buf[t]=word[t]+n; busy[t]=1; obj[t]=obj[t]-n };
		   atomic { word[t]=buf[t]; busy[t]=0; goto idle }
		:: atomic { !q && (CLOSED(word[t]) || word[t]+n>CAP) && !IMAGED -> infl[t]=2 };
#ifndef S4
		   if :: atomic { rec!=0 -> goto backoff } :: atomic { rec==0 } fi;
#endif
		   goto direct
		/* With an image, what is given back depends on the slot: stopped by a freeze as well. */
		:: atomic { !q && (CLOSED(word[t]) || word[t]+n>CAP) && IMAGED } -> goto slow
		:: atomic { q } -> goto slow
		fi;
direct:
		atomic { d=DOWN(t,n); obj[t]=obj[t]-n; pend[t]=n };
		atomic { sub(A,d) }; atomic { sub(R,d) };
		atomic { used[t]=used[t]-n; pend[t]=0 };
		infl[t]=0; goto idle;
leave:
		atomic { k=OPEN(t); word[t]=CL; d=DOWN(t,k) };
		atomic { sub(A,d) }; atomic { sub(R,d) };
		used[t]=used[t]-k;
		infl[t]=0; goto bye;

fork:
		goto slow;
#ifdef FORK
makeimage:      /* in flight, own stock empty: the image first, then a holder, then the child */
		atomic { k=OPEN(t); word[t]=CL; d=DOWN(t,k) };
		atomic { sub(A,d) }; atomic { sub(R,d) };
		used[t]=used[t]-k;
		ibytes=used[t];
		holds[0]=1;
		used[1]=used[t]; holds[1]=1;
		atomic { gone[1]=0; alive[1]=1; obj[1]=obj[t] };          /* fork() */
		infl[t]=0; goto idle;
#endif

recover:        /* ---- all of it again from the start, by whoever comes */
		atomic { clear();
#ifdef S6
			if :: rec==0 && ANYDEAD -> rec=t+1
			   :: rec==0 && !ANYDEAD -> goto retry fi };
#else
			if :: (rec==0 || DEADH(rec)) && (ANYDEAD || rec!=0) -> rec=t+1
			   :: rec==0 && !ANYDEAD -> goto retry fi };
#endif
		do                      /* the dead, once nobody alive is in flight */
		:: atomic { s<NP && gone[s] -> s++ }
		:: atomic { s<NP && DEAD(s) -> dead=dead|(1<<s); s++ }
		:: atomic { s<NP && alive[s] && (s==t || infl[s]==0) -> s++ }
		:: atomic { s==NP -> s=0; break }
		od;
#ifdef FORK
		/* Held by one only: it is that one's own from here on. */
		atomic { if :: ((holds[0] && !gone[0] && !(dead&1)) + (holds[1] && !gone[1] && !((dead>>1)&1)) == 1) -> merged=1 :: else fi };
#endif
		do
		:: atomic { s<2 && (gone[s] || (dead>>s)&1) -> s++ }
		:: atomic { s<2 && !gone[s] && !((dead>>s)&1) -> k=k+OWN(s); s++ }
		:: atomic { s==2 -> s=0; break }
		od;
		atomic { if :: !merged && ((HOLDER(0) && !(dead&1)) || (HOLDER(1) && !((dead>>1)&1))) -> k=k+ibytes :: else fi };
#ifdef S8
		atomic { if :: frz!=0 && (dead>>(frz-1))&1 -> frz=0 :: else fi };
		do :: atomic { s<NP && !((dead>>s)&1) -> s++ }
		   :: atomic { s<NP && ((dead>>s)&1) -> gone[s]=1; obj[s]=0; pend[s]=0; holds[s]=0; s++ }
		   :: atomic { s==NP -> s=0; break } od;
#endif
		atomic { usage[A]=k; check() }; atomic { usage[R]=k; check() };
		atomic { nrec++; if :: frz!=0 && (dead>>(frz-1))&1 -> frz=0 :: else fi };
		do
		:: atomic { s<NP && !((dead>>s)&1) -> s++ }
		:: atomic { s<NP && ((dead>>s)&1) -> word[s]=CL; taken[s]=0; given[s]=0; infl[s]=0; busy[s]=0 };
		   used[s]=0; owed[s]=0;
		   atomic { gone[s]=1; obj[s]=0; pend[s]=0; holds[s]=0; s++ }   /* last */
		:: atomic { s==NP -> break }
		od;
		atomic { assert(usage[A]==SAYS(0)+SAYS(1)+IMAGE && usage[R]==usage[A]);
			clear() };
		rec=0;
retry:
		if :: atomic { t==2 -> goto idle }
		   :: atomic { t<2 && free && n==0 && !q -> goto fork }
		   :: atomic { t<2 && free && (n>0 || q) -> goto release }
		   :: atomic { t<2 && !free -> goto again } fi;
bye:
		atomic { fin[t]=1; clear(); q=0; n=0; ops=0; free=0; need[t]=0; wit[t]=0 };
		skip
	} unless { !alive[t] }
}

#ifdef FORK
proctype child() {
end:
	atomic { alive[1] && !gone[1] -> run P(1) }
}
#endif

/* Out of flight, with nothing in a buffer, a slot says what its process has. */
#define QUIET(u) (fin[u] && alive[u])
#define RIGHT(u) (!QUIET(u) || used[u]==obj[u])

init {
	byte kills;
	atomic {
		alive[0]=1; alive[2]=1;
#ifdef FORK
		gone[1]=1; run P(0); run child(); run P(2)
#else
		alive[1]=1; run P(0); run P(1); run P(2)
#endif
	};
	do
	:: atomic { kills<KILLS -> if :: alive[0] -> alive[0]=0 :: alive[1] -> alive[1]=0 :: alive[2] -> alive[2]=0 fi; kills++ }
	:: break
	od;
	kills=0;
	atomic { (fin[0]||!alive[0]) && (fin[1]||!alive[1]) && (fin[2]||!alive[2]);
		assert(RIGHT(0) && RIGHT(1));
		if :: ANYDEAD -> skip
		   :: else -> assert(frz+rec==0 && owed[0]+owed[1]==0);
			assert(usage[A]==SAYS(0)+SAYS(1)+IMAGE && usage[R]==usage[A]);
			assert(usage[A]==LIVING) fi }
}
