/* SPDX-License-Identifier: MIT */
/* A tree shared by processes that may die at any step: workers 0 and 1 charge A (below R), 2 only recovers;
 * whoever meets the dead recovers too.  KILLS deaths, at any step (unless), also during exclusive mode and recovery.
 * One atomic {} is one atomic step; assumed atomic: bounded add; a slot's word (ledger and stock together);
 * death is told by the kernel and is final.  ANYDEAD and the failing add stand in one step for short: death is
 * final and only a recovery, which waits for us, clears it.
 *   spin FLAGS -a crash.pml && gcc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m2000000
 * Checked exhaustively (spin 6.5.2, gcc 12.2, one core), 0 errors:
 *   -DOPS=1 -DKILLS=2                                10.6 M states   30 s
 *   -DOPS=2 -DKILLS=1                                14.7 M states   40 s
 *   -DOPS=2 -DKILLS=2 -DTWO=0 -DMAXA=2 -DMAXR=2      64.2 M states  248 s
 * Errors expected with -DOPS=2 -DKILLS=1 and: -DX1 (frees not in flight against recovery); -DX2 (stock taken, usage
 * lowered, victim's ledger lowered last); -DX3 (exclusive mode drains unpublished); -DX4 (refuse with a dead one
 * not recovered). */
#ifndef MAXA
#define MAXA 3
#endif
#ifndef MAXR
#define MAXR 3
#endif
#ifndef BATCH
#define BATCH 2
#endif
#ifndef CAP
#define CAP 2
#endif
#ifndef OPS
#define OPS 2           /* calls per worker; 0 = no bound */
#endif
#ifndef KILLS
#define KILLS 2
#endif
#ifndef TWO
#define TWO (t==0)      /* who also charges 2 */
#endif
#define R 0
#define A 1
#define NO 4
#define CL 9
#define PAR(y) (y==A -> R : NO)
#define MAX(y) (y==A -> MAXA : MAXR)

byte usage[2];
byte frz[2];            /* exclusive mode: 0 or owner+1 */
byte rec;               /* recovery: 0 or owner+1 */
byte infl[3];           /* 0 none, 1 charge or exclusive mode, 2 uncharge */
byte led[3];            /* what the process holds, stock included ... */
byte stk[3] = CL;       /* ... and its stock: ONE word, changed in one step */
bool alive[3] = 1;      /* told by the kernel (lock or pidfd), never goes back to 1 */
bool gone[3];           /* recovered: out of every sum */
bool fin[3];
byte obj[3];            /* ghost: live objects */
byte pend[3];           /* ghost: an object being freed directly */
byte dr[3];             /* ghost: bytes this slot took from a stock and still has to uncharge */

#define STK(u)   (stk[u]==CL -> 0 : stk[u])
#define HELD(u)  (alive[u] -> obj[u]+STK(u) : 0)
#define LED(u)   (gone[u] -> 0 : led[u]+dr[u])
#define CNT(u)   (gone[u] -> 0 : obj[u]+pend[u])
#define DEADU(u) (!alive[u] && !gone[u])
#define ANYDEAD  (DEADU(0) || DEADU(1) || DEADU(2))
#ifdef X4
#define UNREC (0)
#else
#define UNREC ANYDEAD   /* never refuse while a dead one is not recovered */
#endif
#define DEADH(w) (w!=0 && !alive[w-1])      /* held by the dead */
inline check() {        /* never below what the living hold; at most what the ledgers say */
  assert(usage[A]>=HELD(0)+HELD(1)+HELD(2) && usage[R]>=HELD(0)+HELD(1)+HELD(2));
  assert(usage[A]<=LED(0)+LED(1)+LED(2) && usage[R]<=LED(0)+LED(1)+LED(2)) }
inline add(v) { usage[a]=usage[a]+v; assert(usage[a]<=MAX(a)); check() }
inline sub(v) { assert(usage[a]>=v); usage[a]=usage[a]-v; check() }
inline clear() { k=0; s=0; a=0; m=0 }

proctype P(byte t) {
  byte n, m, a, x, k, s, d; byte ops; bool q;
  {
    skip;
idle:
    atomic { n=0; x=0; clear() }
end_idle:
    if
    :: atomic { t<2 && (!OPS || ops<OPS) -> if :: OPS -> ops++ :: else fi; if :: n=1 :: TWO -> n=2 fi } goto again
    :: atomic { t<2 && (!OPS || ops<OPS) && obj[t]>=1 -> if :: OPS -> ops++ :: else fi;
         if :: n=1 :: obj[t]>=2 -> n=2 fi; x=NO } goto release
    :: atomic { t==2 && ANYDEAD -> skip } goto recover
    :: atomic { t==2 && (fin[0]||!alive[0]) && (fin[1]||!alive[1]) && !ANYDEAD -> goto bye }
    :: atomic { t<2 -> q=1; x=NO } goto release
    fi;

again:
    atomic { clear();
      if :: stk[t]!=CL && stk[t]>=n -> stk[t]=stk[t]-n; obj[t]=obj[t]+n; check(); goto idle :: else fi }
    infl[t]=1;                                     /* fence */
    if :: frz[A]==0 :: atomic { frz[A]!=0 -> a=A; goto backoff } fi;
    if :: frz[R]==0 :: atomic { frz[R]!=0 -> a=R; goto backoff } fi;
    if :: rec==0 :: atomic { rec!=0 -> a=NO; goto backoff } fi;
    atomic { if :: m=n :: n<BATCH -> m=BATCH fi; led[t]=led[t]+m; a=A };
    do
    :: atomic { usage[a]+m<=MAX(a) -> add(m); a=PAR(a); if :: a==NO -> break :: else fi }
    :: atomic { usage[a]+m>MAX(a) -> x=a; a=A; goto undo }
    od;
    atomic { if :: stk[t]==CL -> stk[t]=m-n :: else -> stk[t]=stk[t]+m-n fi; obj[t]=obj[t]+n; check() };
    infl[t]=0; goto idle;
undo:
    do :: atomic { a!=x -> sub(m); a=PAR(a) } :: atomic { a==x -> break } od;
    led[t]=led[t]-m;
    infl[t]=0; goto excl;
backoff:
    infl[t]=0;
wait:
    if :: atomic { (a==NO -> rec : frz[a])==0 -> goto again }
       :: atomic { DEADH((a==NO -> rec : frz[a])) -> goto recover }
    fi;

excl:                                              /* decide at x */
    if :: atomic { frz[x]==0 -> frz[x]=t+1; clear() }
       :: atomic { DEADH(frz[x]) -> goto recover } fi;
    do
    :: atomic { s<3 && (s==t || infl[s]!=1 || !alive[s]) -> s++ }   /* the dead are passed over */
    :: atomic { s==3 -> s=0; break }
    od;
#ifndef X3
    infl[t]=1;                                     /* fence */
    if :: x==R || frz[R]==0 :: atomic { x==A && frz[R]!=0 -> a=R; goto thawback } fi;
    if :: rec==0 :: atomic { rec!=0 -> a=NO; goto thawback } fi;
#endif
    do
    :: atomic { s<2 && stk[s]==CL -> s++ }
#ifdef X2
    :: atomic { s<2 && stk[s]!=CL -> k=stk[s]; stk[s]=CL; a=A };
       do :: atomic { a!=NO -> sub(k); a=PAR(a) } :: atomic { a==NO -> break } od;
       atomic { led[s]=led[s]-k; k=0; s++ }
#else
    :: atomic { s<2 && stk[s]!=CL -> k=stk[s]; stk[s]=CL; led[s]=led[s]-k; dr[t]=k; s++; a=A };
       do :: atomic { a!=NO -> sub(k); a=PAR(a) } :: atomic { a==NO -> k=0; dr[t]=0; break } od
#endif
    :: atomic { s==2 -> break }
    od;
    atomic { s=0; a=A; led[t]=led[t]+n };
    do
    :: atomic { usage[a]+n<=MAX(a) -> add(n); a=PAR(a); if :: a==NO -> break :: else fi }
    :: atomic { usage[a]+n>MAX(a) && x==A && a==R -> k=2; x=R; s=A; a=A; break }
    :: atomic { usage[a]+n>MAX(a) && (x==R || a==A) && UNREC -> k=3; s=x; x=a; a=A; break }
    :: atomic { usage[a]+n>MAX(a) && (x==R || a==A) && !UNREC ->   /* refusal */
         assert(CNT(0)+CNT(1)+CNT(2)+n>MAX(a)); k=1; s=x; x=a; a=A; break }
    od;
    if
    :: atomic { k==0 -> obj[t]=obj[t]+n; a=0; check() }; infl[t]=0; frz[x]=0; goto idle
    :: else ->
       do :: atomic { a!=x -> sub(n); a=PAR(a) } :: atomic { a==x -> break } od;
       led[t]=led[t]-n; infl[t]=0; frz[s]=0;
       if :: atomic { k==1 -> goto idle } :: atomic { k==2 -> goto excl } :: atomic { k==3 -> goto recover } fi
    fi;
thawback:
    infl[t]=0; frz[x]=0; goto wait;

release:                                           /* free n, or (q) give back my stock */
#ifndef X1
    infl[t]=(q -> 1 : 2);                          /* fence; a free is stopped only by a recovery */
    if :: rec==0 :: atomic { rec!=0 -> a=NO; goto rwait } fi;
    if :: !q || frz[A]==0 :: atomic { q && frz[A]!=0 -> a=A; goto rwait } fi;
    if :: !q || frz[R]==0 :: atomic { q && frz[R]!=0 -> a=R; goto rwait } fi;
#endif
    if
    :: atomic { !q && stk[t]!=CL && stk[t]+n<=CAP -> stk[t]=stk[t]+n; obj[t]=obj[t]-n; goto rdone }
    :: atomic { !q && !(stk[t]!=CL && stk[t]+n<=CAP) -> a=A; obj[t]=obj[t]-n; pend[t]=n }
    :: atomic { q -> n=STK(t); stk[t]=CL; a=A }
    fi;
    do :: atomic { a!=NO -> sub(n); a=PAR(a) } :: atomic { a==NO -> break } od;
    atomic { led[t]=led[t]-n; pend[t]=0 };
    goto rdone;
rwait:
    infl[t]=0;
    if :: atomic { (a==NO -> rec : frz[a])==0 -> a=0; goto release }
       :: atomic { DEADH((a==NO -> rec : frz[a])) -> goto recover }
    fi;
rdone:
    infl[t]=0;
    if :: q -> goto bye :: else -> goto idle fi;

recover:                                           /* all of it again from the start, by whoever comes */
    atomic { clear();
      if :: (rec==0 || DEADH(rec)) && (ANYDEAD || rec!=0) -> rec=t+1; d=0
         :: rec==0 && !ANYDEAD -> goto retry fi };
    do                                             /* D = the dead, once nobody alive is in flight */
    :: atomic { s<3 && gone[s] -> s++ }
    :: atomic { s<3 && !gone[s] && !alive[s] -> d=d|(1<<s); s++ }
    :: atomic { s<3 && alive[s] && (s==t || infl[s]==0) -> s++ }
    :: atomic { s==3 -> s=0; break }
    od;
    do                                             /* sum the ledgers of all others, one by one */
    :: atomic { s<2 && (gone[s] || (d>>s)&1) -> s++ }
    :: atomic { s<2 && !gone[s] && !((d>>s)&1) -> k=k+led[s]; s++ }
    :: atomic { s==2 -> s=0; break }
    od;
    atomic { usage[A]=k; check() }; atomic { usage[R]=k; check() };
    if :: atomic { frz[A]!=0 && (d>>(frz[A]-1))&1 -> frz[A]=0 } :: atomic { else -> skip } fi;
    if :: atomic { frz[R]!=0 && (d>>(frz[R]-1))&1 -> frz[R]=0 } :: atomic { else -> skip } fi;
    do
    :: atomic { s<3 && !((d>>s)&1) -> s++ }
    :: atomic { s<3 && ((d>>s)&1) -> stk[s]=CL }; infl[s]=0; led[s]=0;
       atomic { gone[s]=1; obj[s]=0; pend[s]=0; dr[s]=0; s++ }
    :: atomic { s==3 -> break }
    od;
    atomic { assert(usage[A]==LED(0)+LED(1)+LED(2) && usage[R]==usage[A]);
      assert((!alive[0] || led[0]==obj[0]+STK(0)+pend[0]) && (!alive[1] || led[1]==obj[1]+STK(1)+pend[1]));
      clear(); d=0 };
    rec=0;
retry:
    if :: atomic { t==2 -> goto idle } :: atomic { t<2 && (q || x==NO) -> goto release } :: atomic { t<2 && !q && x!=NO -> goto again } fi;
bye:
    atomic { fin[t]=1; clear(); q=0; n=0; x=0; ops=0 };
    skip
  } unless { !alive[t] }
}

init {
  byte i, kills;
  atomic { run P(0); run P(1); run P(2) };
  do
  :: atomic { kills<KILLS -> if :: alive[0] -> alive[0]=0 :: alive[1] -> alive[1]=0 :: alive[2] -> alive[2]=0 fi; kills++ }
  :: break
  od;
  kills=0;
  atomic { (fin[0]||!alive[0]) && (fin[1]||!alive[1]) && (fin[2]||!alive[2]);
    if :: ANYDEAD -> skip
       :: else -> assert(frz[A]+frz[R]+rec==0 && usage[A]==obj[0]+obj[1] && usage[R]==usage[A]
                         && (gone[0]||led[0]==obj[0]) && (gone[1]||led[1]==obj[1])) fi }
}
