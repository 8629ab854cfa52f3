(* Item 9, continued: dominating pairs, from which the certificate of "pdp account" follows. A pair of laws (A, B) dominates (P, Q) if its
   hockey-stick divergence is at least that of (P, Q) at every factor. The theorems are those of docs/composition-bounds.md. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From PDP Require Import laws composition sampling approximate.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Dominating.
Variables (R : realFieldType).

Definition dominates (V O : finType) (A B : V -> R) (P Q : O -> R) := forall a, 0 <= a -> hs a P Q <= hs a A B.

Lemma dominates_refl (O : finType) (P Q : O -> R) : dominates P Q P Q. Proof. by []. Qed.

Lemma dominates_trans (U V O : finType) (A B : U -> R) (C D : V -> R) (P Q : O -> R) :
  dominates A B C D -> dominates C D P Q -> dominates A B P Q.
Proof. by move=> h k a a0; apply: le_trans (k a a0) (h a a0). Qed.

(* What is promised of the dominating pair is true of the dominated one. *)
Theorem dominated_approx (V O : finType) (A B : V -> R) (P Q : O -> R) a d : 0 <= a ->
  dominates A B P Q -> hs a A B <= d -> approx a d P Q.
Proof. by move=> a0 h le; apply/hs_approx; apply: le_trans (h a a0) le. Qed.

(* Both sides of a domination may be weighed, x P against y Q. *)
Lemma dominates_weighed (V O : finType) (A B : V -> R) (P Q : O -> R) x y :
  (forall o, 0 <= Q o) -> 0 <= x -> 0 <= y -> dominates A B P Q ->
  \sum_o pos (x * P o - y * Q o) <= \sum_v pos (x * A v - y * B v).
Proof.
move=> q0 x0 y0 h; case: (ltrgt0P x) x0 => // [xp|->] _; last first.
  rewrite big1 => [|o _]; first by apply: sumr_ge0 => v _; apply: pos_ge0.
  by rewrite mul0r sub0r pos_0 // oppr_le0 mulr_ge0.
have s (I : finType) (F G : I -> R) : \sum_i pos (x * F i - y * G i) = x * hs (y / x) F G.
  rewrite /hs mulr_sumr; apply: eq_bigr => i _; rewrite -pos_mul ?(ltW xp) //; congr pos.
  by field; rewrite gt_eqF.
by rewrite !s ler_wpmul2l ?(ltW xp) // h // divr_ge0 // ltW.
Qed.

(* The pair of two independent draws. *)
Definition both (V W : finType) (A : V -> R) (B : W -> R) : V * W -> R := chain A (fun _ => B).

(* Dominating pairs compose (Theorem 2 there; Zhu, Dong and Wang 2022, Theorem 10), also where the second mechanism is chosen from the
   output of the first. *)
Theorem dominating_pairs_compose (O T V W : finType) (P Q : O -> R) (K L : O -> T -> R)
    (A1 B1 : V -> R) (A2 B2 : W -> R) :
  (forall o, 0 <= P o) -> (forall o, 0 <= Q o) -> (forall o t, 0 <= L o t) ->
  (forall w, 0 <= A2 w) -> (forall w, 0 <= B2 w) ->
  dominates A1 B1 P Q -> (forall o, dominates A2 B2 (K o) (L o)) ->
  dominates (both A1 A2) (both B1 B2) (chain P K) (chain Q L).
Proof.
move=> p0 q0 l0 a20 b20 h k a a0.
rewrite /hs -(pair_bigA _ (fun o t => pos (P o * K o t - a * (Q o * L o t)))) /=.
apply: (@le_trans _ _ (\sum_o \sum_w pos (P o * A2 w - a * Q o * B2 w))).
  apply: ler_sum => o _; under eq_bigr do rewrite mulrA.
  by apply: dominates_weighed (k o) => //; rewrite mulr_ge0.
rewrite -(pair_bigA _ (fun v w => pos (A1 v * A2 w - a * (B1 v * B2 w)))) /=.
rewrite exchange_big /= [X in _ <= X]exchange_big /=; apply: ler_sum => w _.
have e (I : finType) (F G : I -> R) : \sum_i pos (F i * A2 w - a * G i * B2 w) = \sum_i pos (A2 w * F i - a * B2 w * G i).
  by apply: eq_bigr => i _; congr pos; ring.
rewrite e; under [X in _ <= X]eq_bigr do rewrite mulrA.
by rewrite e; apply: dominates_weighed h => //; rewrite mulr_ge0.
Qed.

(* Poisson sampling (Theorem 6 there; Zhu, Dong and Wang 2022, Theorem 11), for one record and all data sets without it. *)
Variables (X O V : finType) (q : X -> R) (N : {set X} -> O -> R) (A B : V -> R) (x : X).
Hypotheses (q01 : forall x, 0 <= q x <= 1) (A_law : is_law A) (B_law : is_law B) (N_law : forall S, is_law (N S)).

Definition mixture (c : R) (F G : V -> R) v := (1 - c) * F v + c * G v.

Lemma pos_part_law (I : finType) (P Q : I -> R) b : is_law P -> is_law Q -> b <= 0 -> \sum_i pos (P i - b * Q i) = 1 - b.
Proof.
move=> [p0 p1] [q0 q1] b0; under eq_bigr => i _ do rewrite pos_id ?subr_ge0 ?(le_trans (mulr_le0_ge0 b0 (q0 i))) //.
by rewrite sumrB -mulr_sumr p1 q1 mulr1.
Qed.

(* The record goes. *)
Theorem dominates_sampled_plus (D : {set X}) : x \notin D -> (forall S : {set X}, S \subset D -> dominates A B (N (x |: S)) (N S)) ->
  dominates (mixture (q x) B A) B (sampled q N (x |: D)) (sampled q N D).
Proof.
move=> nx h a a0; rewrite (eq_hs _ (sampled_mix _ _ nx) (fun=> erefl)).
apply: (@hs_sampled R X O q (fun S o => (1 - q x) * N S o + q x * N (x |: S) o)) => // S sD.
have /andP[q0 q1] := q01 x.
have e (I : finType) (F G : I -> R) : \sum_i pos ((1 - q x) * F i + q x * G i - a * F i) = \sum_i pos (q x * G i - (a - (1 - q x)) * F i).
  by apply: eq_bigr => i _; congr pos; ring.
rewrite /hs /mixture !e; case: (lerP 0 (a - (1 - q x))) => b0.
  by apply: dominates_weighed (h S sD) => // o; case: (N_law S).
have one (I : finType) (F G : I -> R) : is_law F -> is_law G -> \sum_i pos (q x * G i - (a - (1 - q x)) * F i) = q x - (a - (1 - q x)).
  move=> [f0 f1] [g0 g1].
  under eq_bigr => i _ do rewrite pos_id ?subr_ge0 ?(le_trans (mulr_le0_ge0 (ltW b0) (f0 i))) ?mulr_ge0 //.
  by rewrite sumrB -!mulr_sumr f1 g1 !mulr1.
by rewrite !one.
Qed.

(* The record comes. *)
Theorem dominates_sampled_minus (D : {set X}) : x \notin D -> (forall S : {set X}, S \subset D -> dominates A B (N S) (N (x |: S))) ->
  dominates A (mixture (q x) A B) (sampled q N D) (sampled q N (x |: D)).
Proof.
move=> nx h a a0; rewrite (eq_hs _ (fun=> erefl) (sampled_mix _ _ nx)).
apply: (@hs_sampled R X O q _ (fun S o => (1 - q x) * N S o + q x * N (x |: S) o)) => // S sD.
have /andP[q0 q1] := q01 x.
have e (I : finType) (F G : I -> R) : \sum_i pos (F i - a * ((1 - q x) * F i + q x * G i)) = \sum_i pos ((1 - a * (1 - q x)) * F i - a * q x * G i).
  by apply: eq_bigr => i _; congr pos; ring.
rewrite /hs /mixture !e; case: (lerP 0 (1 - a * (1 - q x))) => b0.
  by apply: dominates_weighed (h S sD) => //; [move=> o; case: (N_law (x |: S))|rewrite mulr_ge0].
have zero (I : finType) (F G : I -> R) : is_law F -> is_law G -> \sum_i pos ((1 - a * (1 - q x)) * F i - a * q x * G i) = 0.
  move=> [f0 f1] [g0 g1]; rewrite big1 // => i _; rewrite pos_0 // subr_le0.
  by apply: le_trans (mulr_le0_ge0 (ltW b0) (f0 i)) _; rewrite !mulr_ge0.
by rewrite !zero.
Qed.

End Dominating.

Section Dots.
Variables (R : realFieldType) (O V : finType).
Variables (P Q : O -> R) (A B : V -> R) (g : seq R).

Lemma least_above (s : seq R) (p : pred R) : has p s -> exists m, [/\ m \in s, p m & forall y, y \in s -> p y -> m <= y].
Proof.
elim: s => //= z s ih; case hs' : (has p s).
  have [m [ms pm mle]] := ih hs'; case: (boolP (p z)) => pz _; last first.
    by exists m; split; rewrite ?in_cons ?ms ?orbT // => y; rewrite in_cons => /orP[/eqP -> h|/mle//]; case/negP: pz.
  case: (lerP m z) => mz.
    by exists m; split; rewrite ?in_cons ?ms ?orbT // => y; rewrite in_cons => /orP[/eqP ->|/mle].
  exists z; split; rewrite ?in_cons ?eqxx // => y; rewrite in_cons => /orP[/eqP ->|ys py] //.
  by apply: le_trans (ltW mz) _; apply: mle.
rewrite orbF => pz; exists z; split; rewrite ?in_cons ?eqxx // => y; rewrite in_cons => /orP[/eqP ->|ys py] //.
by case/negP: (negbT hs'); apply/hasP; exists y.
Qed.

Lemma most_below (s : seq R) (p : pred R) : has p s -> exists m, [/\ m \in s, p m & forall y, y \in s -> p y -> y <= m].
Proof.
move=> h; have [|m [ms pm mle]] := @least_above (map -%R s) (fun y => p (- y)).
  by rewrite has_map; apply: sub_has h => y /=; rewrite opprK.
exists (- m); split=> // [|y ys py]; first by case/mapP: ms => y ys ->; rewrite opprK.
by rewrite ler_oppr mle ?opprK // map_f.
Qed.

(* The curve of the pair (A, B), whose likelihood ratios are on the grid g or infinite, is straight between neighbors of the grid. So it
   is above the curve of (P, Q), which is convex and does not rise, if it is so on the grid: "connecting the dots". *)
Hypotheses (Q0 : forall o, 0 <= Q o) (A0 : forall v, 0 <= A v) (B0 : forall v, 0 <= B v).
Hypothesis g0 : 0 \in g.
Hypothesis ratios : forall v, B v = 0 \/ exists2 c, c \in g & A v = c * B v.
Hypothesis dots : forall c, c \in g -> hs c P Q <= hs c A B.

Theorem connecting_the_dots : dominates A B P Q.
Proof.
move=> a a0; have [|l [lg la lmax]] := @most_below g (fun y => y <= a); first by apply/hasP; exists 0.
case: (boolP (has (fun y => a <= y) g)) => [/least_above[r [rg ra rmin]]|no]; last first.
  apply: le_trans (hs_anti _ Q0 la) _; apply: le_trans (dots lg) _; apply: ler_sum => v _.
  case: (ratios v) => [->|[c cg ->]]; first by rewrite !mulr0.
  have ca : c < a by rewrite ltNge; apply: contra no => ac; apply/hasP; exists c.
  rewrite -mulrBl pos_0 ?pos_ge0 // mulr_le0_ge0 // subr_le0; apply: lmax => //; exact: ltW.
case: (eqVneq l r) => [e|lr].
  have -> : a = l by apply/le_anti; rewrite la andbT e.
  exact: dots.
have llr : l < r by rewrite lt_neqAle lr (le_trans la ra).
pose t := (a - l) / (r - l).
have d0 : r - l != 0 by rewrite subr_eq0 eq_sym.
have ea : a = (1 - t) * l + t * r by rewrite /t; field.
have t0 : 0 <= t by rewrite divr_ge0 ?subr_ge0 // ltW.
have t1 : t <= 1 by rewrite ler_pdivr_mulr ?subr_gt0 // mul1r ler_add2r.
have straight : hs a A B = (1 - t) * hs l A B + t * hs r A B.
  rewrite /hs !mulr_sumr -big_split /=; apply: eq_bigr => v _.
  case: (ratios v) => [->|[c cg ->]]; first by rewrite !mulr0 -mulrDl subrK mul1r.
  rewrite -!mulrBl; case: (lerP c a) => ca.
    have cl : c <= l by apply: lmax.
    by rewrite !pos_0 ?mulr0 ?addr0 // mulr_le0_ge0 // subr_le0 // (le_trans ca ra).
  have rc : r <= c by apply: rmin; rewrite // ltW.
  rewrite !pos_id ?mulr_ge0 ?subr_ge0 ?(ltW ca) ?(le_trans la (ltW ca)) //.
  by rewrite {1}ea; ring.
rewrite straight {1}ea; apply: le_trans (hs_convex _ _ _ _ _) _; first by rewrite t0 t1.
by rewrite ler_add ?ler_wpmul2l ?dots ?subr_ge0.
Qed.

End Dots.
