(* Item 9, Renyi: moments of the likelihood ratio at natural orders, what keeps their bounds, and what they say of (eps, delta).

   At the order k the Renyi divergence D_k of P from Q is log E_Q[(P/Q)^k] / (k - 1). Here it is its moment, the factor e^((k - 1) D_k): sums of
   divergences are products of moments, and a bound on the one is a bound on the other. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From PDP Require Import laws basic composition sampling approximate.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Powers.
Variable R : realFieldType.
Implicit Types u t p q : R.

(* The power n + 1 lies above its tangent at t. *)
Lemma tangent n u t : 0 <= u -> 0 <= t -> n.+1%:R * t ^+ n * u - n%:R * t ^+ n.+1 <= u ^+ n.+1.
Proof.
move=> u0 t0; elim: n => [|n ih]; first by rewrite expr0 !mulr1 mul0r subr0 mul1r expr1.
rewrite -subr_ge0.
have -> : u ^+ n.+2 - (n.+2%:R * t ^+ n.+1 * u - n.+1%:R * t ^+ n.+2) =
    u * (u ^+ n.+1 - (n.+1%:R * t ^+ n * u - n%:R * t ^+ n.+1)) + n.+1%:R * t ^+ n * (u - t) ^+ 2.
  by rewrite (mulrSr 1 n.+1) (mulrSr 1 n) !exprS; ring.
by apply: addr_ge0; apply: mulr_ge0; rewrite ?subr_ge0 ?sqr_ge0 // mulr_ge0 ?ler0n ?exprn_ge0.
Qed.

Lemma scaled_tangent n p q t : 0 <= p -> 0 <= q -> (q = 0 -> p = 0) -> 0 <= t ->
  n.+1%:R * t ^+ n * p - n%:R * t ^+ n.+1 * q <= q * (p / q) ^+ n.+1.
Proof.
move=> p0 q0 ac t0; case: (eqVneq q 0) => [e|qn]; first by rewrite e (ac e) mul0r !mulr0 subr0.
have -> : n.+1%:R * t ^+ n * p - n%:R * t ^+ n.+1 * q = q * (n.+1%:R * t ^+ n * (p / q) - n%:R * t ^+ n.+1).
  by rewrite mulrBr [X in X - _]mulrC [X in _ = X - _]mulrCA [q * (p / q)]mulrC divfK // [X in X - _]mulrC [X in _ - X = _]mulrC.
by rewrite ler_wpmul2l // tangent // divr_ge0.
Qed.

(* q (p/q)^k is convex in p and q together: a sum has no more of it than its terms together. *)
Lemma power_sum (I : Type) (s : seq I) (r : pred I) k (p q : I -> R) :
  (forall i, 0 <= p i) -> (forall i, 0 <= q i) -> (forall i, q i = 0 -> p i = 0) ->
  (\sum_(i <- s | r i) q i) * ((\sum_(i <- s | r i) p i) / (\sum_(i <- s | r i) q i)) ^+ k
    <= \sum_(i <- s | r i) q i * (p i / q i) ^+ k.
Proof.
move=> p0 q0 ac; case: k => [|n].
  by rewrite expr0 mulr1; apply: ler_sum => i _; rewrite expr0 mulr1.
set Q := \sum_(i <- s | r i) q i; set P := \sum_(i <- s | r i) p i.
have Q0 : 0 <= Q by apply: sumr_ge0.
have P0 : 0 <= P by apply: sumr_ge0.
case: (eqVneq Q 0) => [e|Qn].
  by rewrite e mul0r; apply: sumr_ge0 => i _; rewrite mulr_ge0 ?exprn_ge0 ?divr_ge0.
have t0 : 0 <= P / Q by rewrite divr_ge0.
apply: (@le_trans _ _ (\sum_(i <- s | r i) (n.+1%:R * (P / Q) ^+ n * p i - n%:R * (P / Q) ^+ n.+1 * q i))); last first.
  by apply: ler_sum => i _; apply: scaled_tangent => //; apply: ac.
rewrite sumrB -!mulr_sumr -/P -/Q le_eqVlt; apply/orP; left; apply/eqP.
have e : P = P / Q * Q by rewrite divfK.
set u := P / Q in e t0 *; rewrite e.
by rewrite (mulrSr 1 n) exprS; ring.
Qed.

End Powers.

Section Moments.
Variables (R : realFieldType) (O : finType).
Implicit Types (P Q : O -> R) (a d : R) (k : nat).

(* The moment of order k. Where Q is 0 the quotient counts as 0 here, so that a bound is said with this: P is 0 where Q is. *)
Definition moment k P Q := \sum_o Q o * (P o / Q o) ^+ k.
Definition covers Q P := forall o, Q o = 0 -> P o = 0.
Definition renyi k C P Q := covers Q P /\ moment k P Q <= C.

(* It is the sum of P^k Q^(1 - k), k = n + 1. *)
Lemma momentE n P Q : covers Q P -> moment n.+1 P Q = \sum_o P o ^+ n.+1 / Q o ^+ n.
Proof.
move=> ac; apply: eq_bigr => o _; case: (eqVneq (Q o) 0) => [e|q].
  by rewrite e (ac o e) expr0n !mul0r.
by rewrite expr_div_n [Q o ^+ n.+1]exprS invfM mulrCA mulVKf.
Qed.

Lemma moment_ge0 k P Q : (forall o, 0 <= P o) -> (forall o, 0 <= Q o) -> 0 <= moment k P Q.
Proof. by move=> p q; apply: sumr_ge0 => o _; rewrite mulr_ge0 ?exprn_ge0 ?divr_ge0. Qed.

(* The order 0 and the order 1 say nothing, *)
Lemma moment0 P Q : is_law Q -> moment 0 P Q = 1.
Proof. by case=> _ <-; apply: eq_bigr => o _; rewrite expr0 mulr1. Qed.

Lemma moment1 P Q : is_law P -> covers Q P -> moment 1 P Q = 1.
Proof.
case=> _ <- ac; apply: eq_bigr => o _; rewrite expr1 mulrC.
by case: (eqVneq (Q o) 0) => [e|q]; [rewrite e mulr0 ac|rewrite divfK].
Qed.

(* and equal laws have the moment 1. *)
Lemma moment_refl k P : is_law P -> moment k P P = 1.
Proof.
case=> _ <-; apply: eq_bigr => o _.
by case: (eqVneq (P o) 0) => [->|p]; rewrite ?mul0r // divff // expr1n mulr1.
Qed.

(* A pure factor bounds every order: D_k <= eps. *)
Theorem within_renyi E n P Q : is_law P -> (forall o, 0 <= Q o) -> 0 <= E -> within E P Q -> renyi n.+1 (E ^+ n) P Q.
Proof.
move=> [p0 p1] q0 e0 h.
have ac : covers Q P by move=> o e; apply/le_anti; rewrite p0 andbT; have := h o; rewrite e mulr0.
split=> //; rewrite -[X in _ <= X]mulr1 -p1 mulr_sumr; apply: ler_sum => o _.
case: (eqVneq (Q o) 0) => [e|q]; first by rewrite e mul0r mulr_ge0 ?exprn_ge0.
have qp : 0 < Q o by rewrite lt_neqAle eq_sym q q0.
rewrite exprSr mulrCA [Q o * _]mulrC divfK // ler_wpmul2r //.
by apply: ler_expn2r; rewrite ?nnegrE ?divr_ge0 // ler_pdivr_mulr.
Qed.

(* Conversion (Canonne, Kamath and Steinke 2020, Proposition 12): a moment C of the order n + 1 gives, at every factor a, the delta
   n^n / (n + 1)^(n + 1) C / a^n, that is delta = e^((k - 1)(D - eps)) (1 - 1/k)^(k - 1) / k at the order k. *)
Theorem renyi_approx n C a P Q : (0 < n)%N -> (forall o, 0 <= P o) -> (forall o, 0 <= Q o) -> 0 < a -> renyi n.+1 C P Q ->
  hs a P Q <= n%:R ^+ n / n.+1%:R ^+ n.+1 * C / a ^+ n.
Proof.
move=> n0 p0 q0 a0 [ac le].
have k0 : 0 < n%:R :> R by rewrite ltr0n.
have k1 : 0 < n.+1%:R :> R by rewrite ltr0n.
have c0 : 0 <= n%:R ^+ n / n.+1%:R ^+ n.+1 / a ^+ n :> R.
  by rewrite !mulr_ge0 ?invr_ge0 ?exprn_ge0 // ltW.
apply: le_trans (_ : n%:R ^+ n / n.+1%:R ^+ n.+1 / a ^+ n * moment n.+1 P Q <= _); last by rewrite [X in _ <= X]mulrAC ler_wpmul2l.
rewrite /hs mulr_sumr; apply: ler_sum => o _.
have u0 : 0 <= Q o * (P o / Q o) ^+ n.+1 by rewrite mulr_ge0 ?exprn_ge0 ?divr_ge0.
apply: pos_le; first by rewrite mulr_ge0.
pose t := n.+1%:R * a / n%:R.
have t0 : 0 < t by rewrite divr_gt0 ?mulr_gt0.
have := @scaled_tangent R n (P o) (Q o) t (p0 o) (q0 o) (ac o) (ltW t0).
have -> : n.+1%:R * t ^+ n * P o - n%:R * t ^+ n.+1 * Q o = n.+1%:R * t ^+ n * (P o - a * Q o).
  by rewrite exprS /t; field; rewrite gt_eqF.
have s0 : 0 < n.+1%:R * t ^+ n by rewrite mulr_gt0 ?exprn_gt0.
rewrite -ler_pdivl_mull // => h; apply: le_trans h _; rewrite le_eqVlt; apply/orP; left; apply/eqP; congr (_ * _).
have [A0 B0 D0] : [/\ n%:R ^+ n != 0 :> R, n.+1%:R ^+ n != 0 :> R & a ^+ n != 0] by rewrite !gt_eqF ?exprn_gt0.
rewrite /t exprMn exprVn exprMn [n.+1%:R ^+ n.+1]exprS.
move: (n%:R ^+ n) (n.+1%:R ^+ n) (a ^+ n) A0 B0 D0 => A B D A0 B0 D0.
by move: (n.+1%:R) k1 => N N0; field; rewrite A0 B0 D0 gt_eqF.
Qed.

End Moments.

Section Processing.
Variables (R : realFieldType) (O T : finType).
Implicit Types (P Q : O -> R).

(* Post-processing, deterministic and with coins, does not raise a moment. *)
Theorem renyi_post_processing (f : O -> T) k C P Q : (forall o, 0 <= P o) -> (forall o, 0 <= Q o) ->
  renyi k C P Q -> renyi k C (image f P) (image f Q).
Proof.
move=> p0 q0 [ac le]; split=> [t /eqP|].
  rewrite /image psumr_eq0 // => /allP h; apply: big1 => o ft.
  by apply: ac; apply/eqP; have := h o (mem_index_enum o); rewrite ft.
apply: le_trans le; rewrite /moment [X in _ <= X](partition_big f xpredT) //=.
by apply: ler_sum => t _; apply: power_sum.
Qed.

Theorem renyi_post_processing_randomised (K : O -> T -> R) k C P Q :
  (forall o, is_law (K o)) -> (forall o, 0 <= P o) -> (forall o, 0 <= Q o) -> renyi k C P Q -> renyi k C (through K P) (through K Q).
Proof.
move=> kl p0 q0 [ac le]; have k0 o t : 0 <= K o t by case: (kl o).
split=> [t /eqP|].
  rewrite /through psumr_eq0 => [/allP h|o _]; last by rewrite mulr_ge0.
  apply: big1 => o _; have /eqP/eqP := h o (mem_index_enum o).
  by rewrite mulf_eq0 => /orP[/eqP e|/eqP ->]; [rewrite ac ?mul0r|rewrite mulr0].
apply: le_trans le; apply: (@le_trans _ _ (\sum_t \sum_o K o t * (Q o * (P o / Q o) ^+ k))); last first.
  rewrite exchange_big /=; apply: ler_sum => o _; rewrite -mulr_suml; case: (kl o) => _ ->; by rewrite mul1r.
apply: ler_sum => t _; apply: le_trans (power_sum _ _ _ _ _ _) _ => [o|o|o /eqP|]; try by rewrite mulr_ge0.
  by rewrite mulf_eq0 => /orP[/eqP e|/eqP ->]; [rewrite ac ?mul0r|rewrite mulr0].
apply: ler_sum => o _; case: (eqVneq (K o t) 0) => [->|kn]; first by rewrite mulr0 !mul0r.
by rewrite invfM mulrACA divff // mulr1 [Q o * _]mulrC mulrA.
Qed.

(* A mixture has at most the mean of the moments. *)
Lemma moment_mix (I : Type) (s : seq I) (r : pred I) (w : I -> R) (P Q : I -> O -> R) k :
  (forall i, 0 <= w i) -> (forall i o, 0 <= P i o) -> (forall i o, 0 <= Q i o) -> (forall i, covers (Q i) (P i)) ->
  moment k (fun o => \sum_(i <- s | r i) w i * P i o) (fun o => \sum_(i <- s | r i) w i * Q i o)
    <= \sum_(i <- s | r i) w i * moment k (P i) (Q i).
Proof.
move=> w0 p0 q0 ac; rewrite /moment.
under [X in _ <= X]eq_bigr do rewrite mulr_sumr.
rewrite exchange_big /=; apply: ler_sum => o _.
apply: le_trans (power_sum _ _ _ _ _ _) _ => [i|i|i /eqP|]; try by rewrite mulr_ge0.
  by rewrite mulf_eq0 => /orP[/eqP ->|/eqP e]; [rewrite mul0r|rewrite (ac i) ?mulr0].
apply: ler_sum => i _; case: (eqVneq (w i) 0) => [->|wn]; first by rewrite !mul0r.
by rewrite invfM mulrACA divff // mul1r mulrA.
Qed.

End Processing.

Section Composition.
Variables (R : realFieldType) (O T : finType).

Lemma moment_chain k (P Q : O -> R) (K L : O -> T -> R) :
  moment k (chain P K) (chain Q L) = \sum_o Q o * (P o / Q o) ^+ k * moment k (K o) (L o).
Proof.
rewrite /moment -(pair_bigA _ (fun o t => Q o * L o t * (P o * K o t / (Q o * L o t)) ^+ k)) /=.
apply: eq_bigr => o _; rewrite mulr_sumr; apply: eq_bigr => t _.
by rewrite invfM mulrACA exprMn mulrACA.
Qed.

(* Adaptive composition: the moments of one order multiply; the second part may be chosen from the output of the first. *)
Theorem renyi_composition k C D (P Q : O -> R) (K L : O -> T -> R) :
  (forall o, 0 <= P o) -> (forall o, 0 <= Q o) -> 0 <= D ->
  renyi k C P Q -> (forall o, renyi k D (K o) (L o)) -> renyi k (C * D) (chain P K) (chain Q L).
Proof.
move=> p0 q0 d0 [ac le] h; split=> [[o t] /eqP|].
  by rewrite /chain /= mulf_eq0 => /orP[/eqP e|/eqP e]; [rewrite ac ?mul0r|rewrite (h o).1 ?mulr0].
rewrite moment_chain; apply: le_trans (_ : moment k P Q * D <= _); last by rewrite ler_wpmul2r.
rewrite mulr_suml; apply: ler_sum => o _; rewrite ler_wpmul2l ?(h o).2 //.
by rewrite mulr_ge0 ?exprn_ge0 ?divr_ge0.
Qed.

End Composition.

Section Rounds.
Variables (R : realFieldType) (O : finType).
Implicit Types (P Q : seq O -> O -> R) (past : seq O).

Lemma transcript_covers P Q past os : (forall past, covers (Q past) (P past)) ->
  transcript Q past os = 0 -> transcript P past os = 0.
Proof.
move=> ac; elim: os past => [|o os ih] past //= /eqP.
by rewrite mulf_eq0 => /orP[/eqP e|/eqP e]; [rewrite ac ?mul0r|rewrite ih ?mulr0].
Qed.

Lemma moment_rounds_cons k P Q past n : moment k (@rounds R O P past n.+1) (@rounds R O Q past n.+1) =
  \sum_o Q past o * (P past o / Q past o) ^+ k * moment k (@rounds R O P (o :: past) n) (@rounds R O Q (o :: past) n).
Proof.
rewrite /moment /rounds (big_tuple_cons _ (fun os => transcript Q past os * (transcript P past os / transcript Q past os) ^+ k)) /=.
apply: eq_bigr => o _; rewrite mulr_sumr; apply: eq_bigr => t _.
by rewrite invfM mulrACA exprMn mulrACA.
Qed.

(* An account sp of what was spent, which a round multiplies by g, a bound of its moment, known before the round is run. If the account never
   exceeds B, the moment of all rounds does not, times what was spent before them. *)
Lemma moment_rounds k P Q (g sp : seq O -> R) B :
  (forall past o, 0 <= P past o) -> (forall past o, 0 <= Q past o) -> (forall past, 0 < g past) -> (forall past, 0 <= sp past <= B) ->
  (forall o past, sp (o :: past) = sp past * g past) -> (forall past, renyi k (g past) (P past) (Q past)) ->
  forall n past, sp past * moment k (@rounds R O P past n) (@rounds R O Q past n) <= B.
Proof.
move=> p0 q0 g0 b s h; have B0 : 0 <= B by case/andP: (b [::]) => *; apply: le_trans (_ : sp [::] <= B).
elim=> [|n ih] past.
  rewrite /moment /rounds (big_tuple_nil (fun os => transcript Q past os * (transcript P past os / transcript Q past os) ^+ k)) /=.
  by rewrite divr1 expr1n !mulr1; case/andP: (b past).
rewrite moment_rounds_cons mulr_sumr.
apply: (@le_trans _ _ (\sum_o Q past o * (P past o / Q past o) ^+ k * (B / g past))).
  apply: ler_sum => o _; rewrite mulrCA ler_wpmul2l ?mulr_ge0 ?exprn_ge0 ?divr_ge0 //.
  by rewrite ler_pdivl_mulr // mulrAC -(s o) ih.
rewrite -mulr_suml mulrA ler_pdivr_mulr // mulrC ler_wpmul2l //.
by case: (h past).
Qed.

(* n rounds: the moments of one order multiply. *)
Theorem renyi_rounds k P Q (C : nat -> R) n :
  (forall past o, 0 <= P past o) -> (forall past o, 0 <= Q past o) -> (forall i, 1 <= C i) ->
  (forall past, renyi k (C (size past)) (P past) (Q past)) ->
  renyi k (\prod_(i < n) C i) (@rounds R O P [::] n) (@rounds R O Q [::] n).
Proof.
move=> p0 q0 c1 h; split; first by move=> t; apply: transcript_covers => past; case: (h past).
have c0 i : 0 < C i by apply: lt_le_trans (c1 i); rewrite ltr01.
suff : forall m past, (size past + m)%N = n ->
    moment k (@rounds R O P past m) (@rounds R O Q past m) <= \prod_(size past <= i < n) C i.
  by move=> /(_ n [::] erefl); rewrite big_mkord.
elim=> [|m ih] past; rewrite ?addn0 => e.
  rewrite -e big_geq // /moment /rounds (big_tuple_nil (fun os => transcript Q past os * (transcript P past os / transcript Q past os) ^+ k)) /=.
  by rewrite divr1 expr1n mulr1.
have lt : (size past < n)%N by rewrite -e addnS ltnS leq_addr.
rewrite moment_rounds_cons (big_ltn lt).
apply: (@le_trans _ _ (\sum_o Q past o * (P past o / Q past o) ^+ k * \prod_((size past).+1 <= i < n) C i)).
  apply: ler_sum => o _; rewrite ler_wpmul2l ?mulr_ge0 ?exprn_ge0 ?divr_ge0 //.
  by apply: (ih (o :: past)); rewrite /= addSnnS.
rewrite -mulr_suml ler_wpmul2r; [by []|by apply: prodr_ge0 => i _; apply: ltW|by case: (h past)].
Qed.

End Rounds.
