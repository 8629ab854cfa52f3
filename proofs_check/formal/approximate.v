(* Item 9: (eps, delta). The hockey-stick divergence at the factor a, and what keeps it: events, post-processing (merging cells),
   composition, Poisson sampling in both directions. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From PDP Require Import laws composition sampling.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Positive.
Variable R : realFieldType.
Implicit Types x y z a : R.

(* The positive part of a number. *)
Definition pos x := if 0 <= x then x else 0.

Lemma pos_ge0 x : 0 <= pos x. Proof. by rewrite /pos; case: ifP. Qed.
Lemma pos_ge x : x <= pos x. Proof. by rewrite /pos; case: (lerP 0 x) => // /ltW. Qed.
Lemma pos_le x y : 0 <= y -> x <= y -> pos x <= y. Proof. by rewrite /pos; case: ifP. Qed.
Lemma pos_mono x y : x <= y -> pos x <= pos y.
Proof. by move=> h; apply: pos_le; [apply: pos_ge0|apply: le_trans h (pos_ge _)]. Qed.
Lemma pos_id x : 0 <= x -> pos x = x. Proof. by rewrite /pos => ->. Qed.
Lemma pos_0 x : x <= 0 -> pos x = 0.
Proof. by move=> h; apply/le_anti; rewrite pos_ge0 pos_le. Qed.
Lemma pos_mul a x : 0 <= a -> pos (a * x) = a * pos x.
Proof.
move=> a0; case: (lerP 0 x) => h; first by rewrite !pos_id ?mulr_ge0.
by rewrite !pos_0 ?mulr0 ?mulr_ge0_le0 // ltW.
Qed.
Lemma pos_add x y : pos (x + y) <= pos x + pos y.
Proof. by apply: pos_le; rewrite ?addr_ge0 ?ler_add ?pos_ge0 ?pos_ge. Qed.
Lemma pos_sum (I : Type) (s : seq I) (p : pred I) (f : I -> R) :
  pos (\sum_(i <- s | p i) f i) <= \sum_(i <- s | p i) pos (f i).
Proof. by apply: pos_le; [apply: sumr_ge0 => i _; apply: pos_ge0|apply: ler_sum => i _; apply: pos_ge]. Qed.

End Positive.

Section HockeyStick.
Variables (R : realFieldType) (O : finType).
Implicit Types (P Q : O -> R) (a d : R).

Definition hs a P Q := \sum_o pos (P o - a * Q o).

(* (eps, delta)-indistinguishability of an ordered pair of laws, a = e^eps. *)
Definition approx a d P Q := forall A : pred O, event P A <= a * event Q A + d.

Lemma hs_ge0 a P Q : 0 <= hs a P Q.
Proof. by apply: sumr_ge0 => o _; apply: pos_ge0. Qed.

(* The hockey-stick divergence is the least delta. *)
Theorem hs_approx a d P Q : hs a P Q <= d <-> approx a d P Q.
Proof.
split=> [h A|h].
  rewrite addrC -ler_subl_addr; apply: le_trans h; rewrite /event mulr_sumr -sumrB /hs [X in _ <= X](bigID A) /=.
  by rewrite -[X in X <= _]addr0 ler_add ?ler_sum ?sumr_ge0 // => o _; rewrite ?pos_ge ?pos_ge0.
have := h (fun o => 0 <= P o - a * Q o); rewrite addrC -ler_subl_addr /event mulr_sumr -sumrB.
by apply: le_trans; rewrite /hs [X in _ <= X]big_mkcond /=.
Qed.

(* A pure factor is delta = 0. *)
Theorem within_hs a P Q : within a P Q <-> hs a P Q = 0.
Proof.
split=> [h|/eqP].
  by rewrite /hs big1 // => o _; rewrite pos_0 // subr_le0 h.
rewrite psumr_eq0 => [/allP h o|o _]; last exact: pos_ge0.
have /eqP := implyP (h o (mem_index_enum o)) isT => e.
by rewrite -subr_le0 -e pos_ge.
Qed.

(* It falls in a, *)
Lemma hs_anti a b P Q : (forall o, 0 <= Q o) -> a <= b -> hs b P Q <= hs a P Q.
Proof. by move=> q0 h; apply: ler_sum => o _; apply: pos_mono; rewrite ler_add2l ler_opp2 ler_wpmul2r. Qed.

(* and is convex in a. *)
Lemma hs_convex l a b P Q : 0 <= l <= 1 ->
  hs ((1 - l) * a + l * b) P Q <= (1 - l) * hs a P Q + l * hs b P Q.
Proof.
case/andP=> l0 l1; rewrite /hs !mulr_sumr -big_split /=; apply: ler_sum => o _.
have -> : P o - ((1 - l) * a + l * b) * Q o = (1 - l) * (P o - a * Q o) + l * (P o - b * Q o) by ring.
by apply: le_trans (pos_add _ _) _; rewrite !pos_mul // subr_ge0.
Qed.

(* It is jointly convex in the laws. *)
Lemma hs_mix (I : Type) (s : seq I) (p : pred I) (w : I -> R) (P Q : I -> O -> R) a : (forall i, 0 <= w i) ->
  hs a (fun o => \sum_(i <- s | p i) w i * P i o) (fun o => \sum_(i <- s | p i) w i * Q i o)
    <= \sum_(i <- s | p i) w i * hs a (P i) (Q i).
Proof.
move=> w0; rewrite /hs.
under [X in _ <= X]eq_bigr do rewrite mulr_sumr.
rewrite exchange_big /=; apply: ler_sum => o _.
rewrite mulr_sumr -sumrB; apply: le_trans (pos_sum _ _ _) _; apply: ler_sum => i _.
by rewrite mulrCA -mulrBr pos_mul.
Qed.

End HockeyStick.

Section Processing.
Variables (R : realFieldType) (O T : finType).
Implicit Types (P Q : O -> R) (a : R).

(* Merging cells never increases the divergence, *)
Theorem merging (f : O -> T) a P Q : hs a (image f P) (image f Q) <= hs a P Q.
Proof.
rewrite /hs [X in _ <= X](partition_big f xpredT) //=; apply: ler_sum => t _.
by rewrite /image mulr_sumr -sumrB pos_sum.
Qed.

(* nor does post-processing with coins. *)
Theorem approx_post_processing (K : O -> T -> R) a P Q : (forall o, is_law (K o)) ->
  hs a (through K P) (through K Q) <= hs a P Q.
Proof.
move=> k; apply: (@le_trans _ _ (\sum_t \sum_o pos (P o - a * Q o) * K o t)).
  apply: ler_sum => t _; rewrite /through mulr_sumr -sumrB; apply: le_trans (pos_sum _ _ _) _.
  apply: ler_sum => o _; rewrite mulrA -mulrBl mulrC pos_mul 1?mulrC //; by case: (k o).
rewrite exchange_big /=; apply: ler_sum => o _.
by rewrite -mulr_sumr; case: (k o) => _ ->; rewrite mulr1.
Qed.

End Processing.

Section Composition.
Variables (R : realFieldType) (O T : finType).

(* Basic composition: factors multiply, deltas add up; the second part may be chosen from the output of the first. *)
Theorem approx_composition a b d e (P Q : O -> R) (K L : O -> T -> R) :
  is_law P -> (forall o, is_law (K o)) -> (forall o, 0 <= Q o) -> (forall o t, 0 <= L o t) -> 0 <= a -> 0 <= b ->
  hs a P Q <= d -> (forall o, hs b (K o) (L o) <= e) -> hs (a * b) (chain P K) (chain Q L) <= d + e.
Proof.
move=> [p0 p1] k q0 l0 a0 b0 hd he.
pose m o := P o - pos (P o - a * Q o).
have mp o : 0 <= m o <= P o.
  rewrite /m ler_subl_addr ler_addl pos_ge0 andbT subr_ge0; apply: pos_le => //.
  by rewrite ler_subl_addr ler_addl mulr_ge0.
have mq o : m o <= a * Q o by rewrite /m ler_subl_addr addrC -ler_subl_addr pos_ge.
rewrite /hs -(pair_bigA _ (fun o t => pos (P o * K o t - a * b * (Q o * L o t)))) /=.
apply: (@le_trans _ _ (\sum_o (pos (P o - a * Q o) + P o * e))).
  apply: ler_sum => o _; case: (k o) => k0 k1; have /andP[m0 mP] := mp o.
  apply: (@le_trans _ _ (\sum_t (pos (P o - a * Q o) * K o t + m o * pos (K o t - b * L o t)))).
    apply: ler_sum => t _; apply: pos_le; first by rewrite addr_ge0 ?mulr_ge0 ?pos_ge0.
    have -> : P o * K o t = pos (P o - a * Q o) * K o t + m o * K o t by rewrite -mulrDl /m addrC subrK.
    rewrite -addrA ler_add2l.
    apply: le_trans (_ : m o * (K o t - b * L o t) <= _); last by rewrite ler_wpmul2l ?pos_ge.
    have -> : a * b * (Q o * L o t) = a * Q o * (b * L o t) by ring.
    by rewrite mulrBr ler_add2l ler_opp2 ler_wpmul2r ?mulr_ge0.
  rewrite big_split /= -!mulr_sumr k1 mulr1 ler_add2l.
  apply: ler_pmul => //; [exact: hs_ge0|exact: he].
by rewrite big_split /= -mulr_suml p1 mul1r ler_add2r.
Qed.

End Composition.

Section Subsampling.
Variables (R : realFieldType) (X O : finType).
Implicit Types (q : X -> R) (N : {set X} -> O -> R) (D S : {set X}).

Let drawn_ge0 q D S : (forall x, 0 <= q x <= 1) -> 0 <= drawn q D S.
Proof. by move=> q01; apply: prodr_ge0 => x _; case: ifP => _; case/andP: (q01 x) => // *; rewrite subr_ge0. Qed.

(* The laws on the data with and without x: a mixture, over the samples S of the others, of two laws each. *)
Lemma sampled_mix q N D x : x \notin D -> sampled q N (x |: D) =1
  fun o => \sum_(S : {set X} | S \subset D) drawn q D S * ((1 - q x) * N S o + q x * N (x |: S) o).
Proof.
move=> nx o; rewrite sampled_split // /sampled !mulr_sumr -big_split /=.
by apply: eq_bigr => S _; ring.
Qed.

Lemma drawn_sum q D : \sum_(S : {set X} | S \subset D) drawn q D S = 1.
Proof.
have h D' : sampled q (fun _ (_ : unit) => 1) D' tt = 1.
  elim/(@set_ind X): D' => [|x D' nx ih]; first by rewrite sampled0.
  by rewrite sampled_split // ih !mulr1 subrK.
by rewrite -[RHS](h D) /sampled; apply: eq_bigr => S _; rewrite mulr1.
Qed.

Lemma hs_sampled q N N' D a d : (forall x, 0 <= q x <= 1) ->
  (forall S, S \subset D -> hs a (N S) (N' S) <= d) -> hs a (sampled q N D) (sampled q N' D) <= d.
Proof.
move=> q01 h; apply: le_trans (hs_mix _ _ _ _ _ _) _ => [S|]; first exact: drawn_ge0.
rewrite -[X in _ <= X]mul1r -(drawn_sum q D) mulr_suml; apply: ler_sum => S sD.
by rewrite ler_wpmul2l ?drawn_ge0 ?h.
Qed.

Lemma eq_hs a (P P' Q Q' : O -> R) : P =1 P' -> Q =1 Q' -> hs a P Q = hs a P' Q'.
Proof. by move=> p q; apply: eq_bigr => o _; rewrite p q. Qed.

(* Subsampling, direction plus: E becomes 1 + q (E - 1), delta becomes q delta. *)
Theorem approx_amplification_plus q N D x E d : (forall x, 0 <= q x <= 1) -> x \notin D ->
  (forall S, S \subset D -> hs E (N (x |: S)) (N S) <= d) ->
  hs (1 + q x * (E - 1)) (sampled q N (x |: D)) (sampled q N D) <= q x * d.
Proof.
move=> q01 nx h; rewrite (eq_hs _ (sampled_mix _ _ nx) (fun=> erefl)).
apply: (@hs_sampled q (fun S o => (1 - q x) * N S o + q x * N (x |: S) o)) => // S sD.
have /andP[q0 _] := q01 x.
apply: le_trans (_ : q x * hs E (N (x |: S)) (N S) <= _); last by rewrite ler_wpmul2l ?h.
rewrite /hs mulr_sumr; apply: ler_sum => o _; rewrite -pos_mul //.
by apply: pos_mono; rewrite le_eqVlt; apply/orP; left; apply/eqP; ring.
Qed.

(* Direction minus: E = 1/L becomes 1 / (1 - q (1 - L)), and delta at most q L delta / (1 - q (1 - L)), that is q delta / ((1 - q) E + q). *)
Theorem approx_amplification_minus q N D x L d : (forall x, 0 <= q x <= 1) -> x \notin D ->
  0 < L -> 0 < 1 - q x * (1 - L) -> (forall S, S \subset D -> hs L^-1 (N S) (N (x |: S)) <= d) ->
  hs (1 - q x * (1 - L))^-1 (sampled q N D) (sampled q N (x |: D)) <= q x * L * d / (1 - q x * (1 - L)).
Proof.
move=> q01 nx L0 pos0 h; rewrite (eq_hs _ (fun=> erefl) (sampled_mix _ _ nx)).
apply: (@hs_sampled q _ (fun S o => (1 - q x) * N S o + q x * N (x |: S) o)) => // S sD.
have /andP[q0 _] := q01 x.
have c0 : 0 <= q x * L / (1 - q x * (1 - L)) by rewrite divr_ge0 ?mulr_ge0 ?(ltW L0) ?(ltW pos0).
rewrite mulrAC; apply: le_trans (_ : q x * L / (1 - q x * (1 - L)) * hs L^-1 (N S) (N (x |: S)) <= _); last by rewrite ler_wpmul2l ?h.
rewrite /hs mulr_sumr; apply: ler_sum => o _; rewrite -pos_mul //.
by apply: pos_mono; rewrite le_eqVlt; apply/orP; left; apply/eqP; field; rewrite !gt_eqF.
Qed.

End Subsampling.
