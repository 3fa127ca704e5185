/* SPDX-License-Identifier: MIT */
/* Hierarchical charging with per-thread stocks: the corrected protocol, and its flaws as switches.
 * Tree: R (no limit unless MAXR) > A > B, C.  Three threads; sizes 1 and 2; batch 2.
 * One atomic {} is one atomic step of the machine, sequentially consistent: a load, a store, a
 * compare-and-swap add bounded by max, or a change of ONE stock word (open bit and amount together).
 *   spin FLAGS -a charge.pml && gcc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m10000000
 * Checked exhaustively (spin 6.5.2, gcc 12.2, one core), 0 errors:
 *   (none: no bound on calls)                              36.2 M states 139 s
 *   -DOPS=2 -DREOPEN -DMAXB=4 -DCFG=2                        9.9 M states  28 s
 *   -DOPS=2 -DREOPEN -DCFG=3 -DMAXR=4 -DMAXC=2              28.7 M states  79 s
 *   -DOPS=2 -DMAXR=3 -DMAXA=2 -DMAXB=3 (3 nested limits)    14.1 M states  43 s
 *   -DOPS=2 -DNEG (remembered refusals)                     20.6 M states  60 s
 *   -DOPS=2 -DNEG -DREOPEN -DMAXB=4 -DCFG=2                 12.4 M states  23 s
 * No livelock (gcc -DNP -DCOLLAPSE; pan -m10000000 -l -f: weakly fair, some call always completes):
 *   -DNT=2                                                  0.13 M states   1 s
 *   -DCFG=2 -DMAXB=4 -DMAXA=2                               9.4 M states  85 s
 * Errors expected: -DOPS=2 with -DW1 -DWEAK=1 (look at frozen level by level while climbing);
 *   -DW2 -DREOPEN -DWEAK=1 -DMAXB=4 -DCFG=2 (open a stock out of flight); -DW3 (drain unpublished);
 *   -DW4 (trim or exit unpublished); -DNEG -DW5=1 -DREOPEN -DMAXB=4 -DCFG=2 (stocks reopen under a
 *   remembered refusal); -DW6 (publish before waiting: deadlock).  -DNT=2 -DSTARVE (gcc -DCOLLAPSE;
 *   pan -a -f -N st): one thread can starve. */
#ifndef MAXA
#define MAXA 3
#endif
#ifndef MAXB
#define MAXB 2
#endif
#ifndef MAXC
#define MAXC 4                     /* larger than its parent's */
#endif
#ifndef MAXR
#define MAXR 99                    /* none */
#endif
#ifndef OPS
#define OPS 0                      /* calls per thread; 0 = no bound */
#endif
#ifndef NT
#define NT 3
#endif
#ifndef CFG
#define CFG 1
#endif
#define BATCH 2
#ifndef WEAK
#define WEAK 0
#endif
#define CAP 2                      /* a free never fills a stock above this: the rest goes to usage */
/* what thread t may charge (CH) and free, whoever charged it (FR) */
#if CFG==1                         /* two groups; a big charger that frees everybody's */
#define CH(g,n) ((t==0 && g==B && n==1) || (t==1 && g==C && n==1) || (t==2 && g==B && n==2))
#define FR(g)   (t==2 && g!=A)
#elif CFG==2                       /* two in the same group; thread 1 frees too */
#define CH(g,n) ((t==0 && g==B && n==1) || (t==1 && g==C && n==1) || (t==2 && g==B && n==1))
#define FR(g)   (t==1 && g==C)
#elif CFG==3                       /* charges to the inner group; the big one is in C */
#define CH(g,n) ((t==0 && g==A && n==1) || (t==1 && g==C && n==2) || (t==2 && g==B && n==1))
#define FR(g)   (t==2 && g!=B)
#endif
#define R 0
#define A 1
#define B 2
#define C 3
#define NO 4
#define CL 9                       /* stock word: closed, empty */
#define PAR(y)     (y>=B -> A : (y==A -> R : NO))
#define BELOW(h,y) (h!=NO && (y==R || h==y || (y==A && h!=R)))
#define MAX(y)     (y==R -> MAXR : (y==A -> MAXA : (y==B -> MAXB : MAXC)))
#define S(h)       stk[t*3+h-1]    /* my stock for h */

byte usage[4], com[4];             /* com: ghost, sum of live objects below */
byte frz[4];                       /* 0 or owner+1 */
byte infl[3] = NO;
byte stk[9] = CL;
byte pool[8];                      /* live objects, [g*2+size-1] */
byte need[3], grp[3];              /* ghost: the pending request */
bool wit[3];                       /* ghost: at some instant of the call it did not fit */
byte done;
#ifdef NEG
#define BACKED(y) (1)
byte cnt[4], ngn[4], ngc[4];       /* uncharge count; remembered size, count */
#define NEGV(y) (ngn[y]>0 && ngc[y]==cnt[y])
#ifndef W5
#define W5 0
#endif
#define NEGPATH(h) (!W5 && (NEGV(h) || NEGV(A) || NEGV(R)))   /* FIX 5: stocks stay closed */
#else
#define NEGPATH(h) (0)
#define BACKED(y) (usage[y]>=com[y])
#endif
#define OVER(v) (need[v]>0 && (com[grp[v]]+need[v]>MAX(grp[v]) || com[A]+need[v]>MAXA || com[R]+need[v]>MAXR))
inline witness() { wit[0]=wit[0]||OVER(0); wit[1]=wit[1]||OVER(1); wit[2]=wit[2]||OVER(2) }
inline commit() {                  /* my request (g,n) becomes a live object */
  com[g]=com[g]+n; if :: g!=A -> com[A]=com[A]+n :: else fi; com[R]=com[R]+n;
  assert(BACKED(g) && BACKED(A) && BACKED(R));
  pool[g*2+n-1]++; witness() }
inline uncommit() { com[g]=com[g]-n; if :: g!=A -> com[A]=com[A]-n :: else fi; com[R]=com[R]-n }
#define LOOKUP atomic { frz[a]==0 -> a=PAR(a); if :: a==NO -> break :: else fi }
#define ABOVE do :: atomic { a==NO -> break } :: atomic { a!=NO && frz[a]==0 -> a=PAR(a) } \
     :: atomic { a!=NO && frz[a]!=0 -> goto thawback } od
inline add(v) { usage[a]=usage[a]+v; assert(usage[a]<=MAX(a)) }
inline sub(v) { assert(usage[a]>=v); usage[a]=usage[a]-v; assert(BACKED(a)) }

inline decide() {                  /* P2, P3: decided now, and rightly */
  if :: BELOW(a,x) -> assert(wit[t]); assert(WEAK || com[a]+n>MAX(a)) :: else fi }

proctype T(byte t) {
  byte g, n, m, a, x, k, s; byte ops; bool q;
idle:
  atomic { need[t]=0; grp[t]=0; wit[t]=0; g=0; n=0; m=0; a=0; x=0; k=0; s=0 }
end_idle: progress_idle:
  if
  :: atomic { !OPS || ops<OPS -> if :: OPS -> ops++ :: else fi;
       if :: CH(A,1) -> g=A; n=1 :: CH(B,1) -> g=B; n=1 :: CH(C,1) -> g=C; n=1
          :: CH(A,2) -> g=A; n=2 :: CH(B,2) -> g=B; n=2 :: CH(C,2) -> g=C; n=2 fi;
       need[t]=n; grp[t]=g; wit[t]=OVER(t) } goto again
  :: atomic { (!OPS || ops<OPS) && ((FR(A) && pool[2]+pool[3]>0) || (FR(B) && pool[4]+pool[5]>0) || (FR(C) && pool[6]+pool[7]>0)) ->
       if :: OPS -> ops++ :: else fi;
       if :: FR(A) && pool[2] -> g=A; n=1 :: FR(A) && pool[3] -> g=A; n=2
          :: FR(B) && pool[4] -> g=B; n=1 :: FR(B) && pool[5] -> g=B; n=2
          :: FR(C) && pool[6] -> g=C; n=1 :: FR(C) && pool[7] -> g=C; n=2 fi;
       pool[g*2+n-1]-- } goto release
  :: atomic { if :: S(A)!=CL -> g=A :: S(B)!=CL -> g=B :: S(C)!=CL -> g=C fi } goto giveback
  :: goto quit
  fi;

again:                             /* ---- fast path: one atomic step on my stock word */
  atomic { m=0; a=0; x=0; k=0; s=0;
    if :: S(g)!=CL && S(g)>=n -> S(g)=S(g)-n; commit(); goto idle :: else fi };
#ifdef NEG                         /* a remembered refusal still stands */
  a=g;
  do :: atomic { !(NEGV(a) && n>=ngn[a]) -> a=PAR(a); if :: a==NO -> break :: else fi }
     :: atomic { NEGV(a) && n>=ngn[a] -> assert(wit[t]); goto idle } od;
#endif
/* ---- shared mode */
  atomic { infl[t]=g; a=g };       /* publish; full fence */
#ifndef W1
  do :: LOOKUP :: atomic { frz[a]!=0 -> goto backoff } od; /* FIX 1: whole path before the first add */
#endif
  atomic { a=g; if :: m=n :: NEGPATH(g)==0 && n<BATCH -> m=BATCH fi };
  do
#ifdef W1
  :: atomic { frz[a]!=0 -> x=a; a=g; goto undo1 }
  :: atomic { frz[a]==0 && usage[a]+m<=MAX(a) -> add(m); a=PAR(a); if :: a==NO -> break :: else fi }
  :: atomic { frz[a]==0 && usage[a]+m>MAX(a) -> x=a; a=g; goto undo }
#else
  :: atomic { usage[a]+m<=MAX(a) -> add(m); a=PAR(a); if :: a==NO -> break :: else fi }
  :: atomic { usage[a]+m>MAX(a) -> x=a; a=g; goto undo }
#endif
  od;
  atomic {                         /* FIX 2: a stock is opened only here, in flight */
    if :: S(g)!=CL -> S(g)=S(g)+m-n :: S(g)==CL && m>n -> S(g)=m-n
       :: S(g)==CL && m==n && NEGPATH(g)==0 -> S(g)=0 :: S(g)==CL && m==n fi; commit(); m=0 };
  infl[t]=NO; goto idle;
undo:
  do :: atomic { a!=x -> sub(m); a=PAR(a) } :: atomic { a==x -> break } od;
  infl[t]=NO; goto excl;
#ifdef W1
undo1:
  do :: atomic { a!=x -> sub(m); a=PAR(a) } :: atomic { a==x -> break } od;
#endif
backoff:
  atomic { infl[t]=NO; m=0 }; frz[a]==0 -> goto again;

excl:                              /* ---- exclusive mode at x */
  atomic { frz[x]==0 -> frz[x]=t+1; m=0; a=0; s=0 };     /* CAS; full fence */
#ifdef W6
  infl[t]=g;
#endif
  do :: atomic { s<NT && (s==t || !BELOW(infl[s],x)) -> s++; if :: s==NT -> break :: else fi } od;
#ifndef W3
  atomic { infl[t]=g; s=0; a=PAR(x) };   /* FIX 3: publish before draining; full fence */
  ABOVE;
#endif
  s=0;
  do                               /* close and empty the stocks below x, one by one */
  :: atomic { s<9 && BELOW(s%3+1,x) && stk[s]!=CL -> k=stk[s]; stk[s]=CL; a=s%3+1; s++; if :: k==0 -> a=NO :: else fi };
     do :: atomic { a!=NO -> sub(k); a=PAR(a) } :: atomic { a==NO -> k=0; break } od
     :: atomic { s<9 && !(BELOW(s%3+1,x) && stk[s]!=CL) -> s++ }
     :: atomic { s==9 -> break } od;
#ifdef W3
  atomic { infl[t]=g; a=PAR(x) };
  ABOVE;
#endif
  atomic { a=g; k=0; s=0 };
tryadd:
#ifdef NEG
  m=cnt[a];                        /* read before the add that may fail */
#endif
  if
  :: atomic { usage[a]+n<=MAX(a) -> add(n); a=PAR(a); if :: a!=NO -> goto tryadd :: else fi }
  :: atomic { usage[a]+n>MAX(a) -> decide(); goto nofit }
  fi;
  atomic { commit(); a=0 };
  infl[t]=NO; frz[x]=0; goto idle;
nofit:
  atomic { k=a;
#ifdef NEG
    if :: BELOW(a,x) -> ngn[a]=n; ngc[a]=m :: else fi;
#endif
    a=g };
  do :: atomic { a!=k -> sub(n); a=PAR(a) } :: atomic { a==k -> break } od;
  infl[t]=NO; frz[x]=0;
  if :: atomic { BELOW(k,x) -> goto idle } /* the only refusal */ :: atomic { !BELOW(k,x) -> x=k; k=0; goto excl } fi;
thawback:
  infl[t]=NO; frz[x]=0; frz[a]==0 -> goto again;

release:                           /* ---- free (g,n), whoever charged it */
  if
  :: atomic { S(g)!=CL && S(g)+n<=CAP -> S(g)=S(g)+n; uncommit(); goto idle }
  :: atomic { S(g)!=CL && S(g)+n>CAP -> a=g } :: atomic { S(g)==CL -> a=g }
#ifdef REOPEN                      /* a free may also open a stock, in its own in-flight window */
  :: atomic { S(g)==CL -> a=g };
#ifndef W2
     infl[t]=g;
#endif
     do :: LOOKUP :: atomic { frz[a]!=0 -> a=g; goto rdirect } od;
     if :: atomic { NEGPATH(g)==0 -> S(g)=n; uncommit(); a=0 }; infl[t]=NO; goto idle :: atomic { NEGPATH(g) -> a=g } fi;
rdirect: infl[t]=NO
#endif
  fi;
  do
#ifdef NEG                         /* an object being freed counts until the count is bumped */
  :: atomic { sub(n) }; atomic { com[a]=com[a]-n; cnt[a]++ };
#else
  :: atomic { com[a]=com[a]-n; sub(n) };
#endif
     atomic { a=PAR(a); if :: a==NO -> goto idle :: else fi }
  od;

giveback:                          /* ---- trim, evict, thread exit: empty my own stock */
#ifndef W4
  atomic { infl[t]=g; a=g };
  do :: LOOKUP :: atomic { frz[a]!=0 -> break } od;
  if :: a!=NO -> infl[t]=NO; frz[a]==0 -> goto gbdone :: else fi;
#endif
  atomic { k=S(g); S(g)=CL; if :: k==CL || k==0 -> a=NO :: else a=g fi };
  do :: atomic { a!=NO -> sub(k); a=PAR(a) } :: atomic { a==NO -> k=0; break } od;
  infl[t]=NO;
gbdone: if :: q -> goto quit :: else -> goto idle fi;
quit:
  atomic { q=1; g=0; a=0; k=0; n=0; if :: S(A)!=CL -> g=A; goto giveback :: S(B)!=CL -> g=B; goto giveback :: S(C)!=CL -> g=C; goto giveback :: else fi };
  atomic { done++ }
}

init {
  atomic { run T(0); run T(1); if :: NT==3 -> run T(2) :: else fi };
  atomic { done==NT ->
    assert(frz[R]+frz[A]+frz[B]+frz[C]==0 && infl[0]==NO && infl[1]==NO && infl[2]==NO);
    assert(usage[R]==com[R] && usage[A]==com[A] && usage[B]==com[B] && usage[C]==com[C]);
    assert(usage[B]==pool[4]+2*pool[5] && usage[C]==pool[6]+2*pool[7]);
    assert(usage[A]==usage[B]+usage[C]+pool[2]+2*pool[3] && usage[R]==usage[A]) }
}
#ifdef STARVE
ltl st { [] (need[0]>0 -> <> (need[0]==0)) }
#endif
