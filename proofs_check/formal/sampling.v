(* Items 3 and 4: Poisson importance sampling, in both directions, and what happens when one sample is used several times.

   The sample keeps each record x of the data set D with probability q x, by a coin of its own. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From PDP Require Import laws composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Sampling.
Variables (R : realFieldType) (X O : finType).
Implicit Types (q : X -> R) (N : {set X} -> O -> R) (D S : {set X}).

(* The probability that the sample of D is S, a subset of D. *)
Definition drawn q D S := \prod_(x in D) (if x \in S then q x else 1 - q x).

(* The law of the mechanism N on the sample. *)
Definition sampled q N D : O -> R := fun o => \sum_(S : {set X} | S \subset D) drawn q D S * N S o.

(* The coin of one record x, tossed apart: with probability q x the sample of the others and x, else the sample of the others. *)
Theorem sampled_split q N D x o : x \notin D ->
  sampled q N (x |: D) o = (1 - q x) * sampled q N D o + q x * sampled q (fun S => N (x |: S)) D o.
Proof.
move=> nx; rewrite /sampled (bigID (fun S : {set X} => x \in S)) /= addrC !mulr_sumr; congr (_ + _).
  rewrite (eq_bigl (fun S : {set X} => S \subset D)) => [|S].
    apply: eq_bigr => S sD; rewrite mulrA /drawn big_setU1 //=.
    by have /negbTE -> : x \notin S by apply: contra nx; apply: (subsetP sD).
  by rewrite -subsetD1 setU1K.
rewrite (reindex_onto (fun S => x |: S) (fun S => S :\ x)) /=; last by move=> S /andP[_ xS]; rewrite setD1K.
rewrite (eq_bigl (fun S : {set X} => S \subset D)) => [|S].
  apply: eq_bigr => S sD; rewrite mulrA /drawn big_setU1 //= setU11; congr (_ * _ * _).
  by apply: eq_bigr => y yD; rewrite in_setU1; case: eqP yD => // ->; rewrite (negbTE nx).
rewrite setU11 andbT; apply/andP/idP => [[/subsetP sD /eqP e]|sD].
  apply/subsetP=> y yS; have yx : y != x by apply: contraTneq yS => ->; rewrite -e setD11.
  by have := sD y; rewrite !in_setU1 yS (negbTE yx) orbT; apply.
split; first by rewrite setUS.
by rewrite setU1K //; apply: contra nx; apply: (subsetP sD).
Qed.

Lemma sampled0 q N o : sampled q N set0 o = N set0 o.
Proof.
rewrite /sampled (big_pred1 set0) => [|S]; last by rewrite /= subset0.
by rewrite /drawn big_set0 mul1r.
Qed.

(* Induction over a finite set, one element at a time. *)
Lemma set_ind (P : {set X} -> Prop) : P set0 -> (forall x D, x \notin D -> P D -> P (x |: D)) -> forall D, P D.
Proof.
move=> h0 hS D; elim: {D}#|D| {-2}D (erefl #|D|) => [|n ih] D.
  by move/eqP; rewrite cards_eq0 => /eqP ->.
move=> c; have /card_gt0P[x xD] : (0 < #|D|)%N by rewrite c.
rewrite -(setD1K xD); apply: hS; first by rewrite setD11.
by apply: ih; have := cardsD1 x D; rewrite c xD add1n => -[].
Qed.

Theorem sampled_law q N D : (forall x, 0 <= q x <= 1) -> (forall S, is_law (N S)) -> is_law (sampled q N D).
Proof.
move=> q01 n; split=> [o|].
  apply: sumr_ge0 => S _; rewrite mulr_ge0 //; last by case: (n S).
  by apply: prodr_ge0 => x _; case: ifP => _; case/andP: (q01 x) => // *; rewrite subr_ge0.
elim/set_ind: D N n => [|x D nx ih] N n.
  by under eq_bigr do rewrite sampled0; case: (n set0).
under eq_bigr do rewrite sampled_split //.
by rewrite big_split /= -!mulr_sumr !ih // ?mulr1 ?subrK.
Qed.

Lemma sampled_ge0 q N D o : (forall x, 0 <= q x <= 1) -> (forall S o, 0 <= N S o) -> 0 <= sampled q N D o.
Proof.
move=> q01 n0; apply: sumr_ge0 => S _; rewrite mulr_ge0 //.
by apply: prodr_ge0 => x _; case: ifP => _; case/andP: (q01 x) => // *; rewrite subr_ge0.
Qed.

(* What holds for every sample holds for the sampled mechanism. *)
Lemma sampled_within q N N' D E : (forall x, 0 <= q x <= 1) ->
  (forall S, S \subset D -> within E (N S) (N' S)) -> within E (sampled q N D) (sampled q N' D).
Proof.
move=> q01 h o; rewrite /sampled mulr_sumr; apply: ler_sum => S sD.
rewrite mulrCA ler_wpmul2l ?h //.
by apply: prodr_ge0 => x _; case: ifP => _; case/andP: (q01 x) => // *; rewrite subr_ge0.
Qed.

(* Amplification in the direction plus (Theorem 6 of Fay et al., upper display; Theorem 1 of docs/one-sided.md):
   a record that costs the factor E on every sample costs 1 + q (E - 1). *)
Theorem amplification_plus q N D x E : (forall x, 0 <= q x <= 1) -> (forall S o, 0 <= N S o) -> x \notin D ->
  (forall S, S \subset D -> within E (N (x |: S)) (N S)) ->
  within (1 + q x * (E - 1)) (sampled q N (x |: D)) (sampled q N D).
Proof.
move=> q01 n0 nx h o; rewrite sampled_split //; have /andP[qx0 _] := q01 x.
have := sampled_within q01 h o; set P := sampled q N D o; set P1 := sampled _ _ _ _ => le.
have -> : (1 + q x * (E - 1)) * P = (1 - q x) * P + q x * (E * P) by ring.
by rewrite ler_add2l ler_wpmul2l.
Qed.

(* Amplification in the direction minus. L is 1/E, where the record costs the factor E on every sample when it comes; L = 0 says that no
   finite E is known, as of one-sided mechanisms (Lemma 3.1 of Ghazi et al.). *)
Theorem amplification_minus q N D x L : (forall x, 0 <= q x <= 1) -> (forall S o, 0 <= N S o) -> x \notin D ->
  0 <= L -> 0 < 1 - q x * (1 - L) -> (forall S o, S \subset D -> L * N S o <= N (x |: S) o) ->
  within (1 - q x * (1 - L))^-1 (sampled q N D) (sampled q N (x |: D)).
Proof.
move=> q01 n0 nx L0 pos h o; rewrite sampled_split //; have /andP[qx0 _] := q01 x.
rewrite mulrC ler_pdivl_mulr //.
have le : L * sampled q N D o <= sampled q (fun S => N (x |: S)) D o.
  rewrite /sampled mulr_sumr; apply: ler_sum => S sD; rewrite mulrCA ler_wpmul2l ?h //.
  by apply: prodr_ge0 => y _; case: ifP => _; case/andP: (q01 y) => // *; rewrite subr_ge0.
set P := sampled q N D o in le *; set P1 := sampled _ _ _ _ in le *.
have -> : P * (1 - q x * (1 - L)) = (1 - q x) * P + q x * (L * P) by ring.
by rewrite ler_add2l ler_wpmul2l.
Qed.

End Sampling.

Section Importance.
Variables (R : realFieldType) (X O : finType).
Implicit Types (q : X -> R) (M : wdata R X -> O -> R) (D : {set X}).

(* Poisson importance sampling: the record x is kept with probability q x, and has the weight 1/q x in the sample. *)
Definition importance q M D : O -> R := sampled q (fun S => M (weigh (fun x => (q x)^-1) S)) D.

(* The factors of the sampled profile psi, plus and minus. *)
Definition psi_plus q (E : R -> X -> R) x := 1 + q x * (E (q x)^-1 x - 1).
Definition psi_minus q (E : R -> X -> R) x := (1 - q x * (1 - (E (q x)^-1 x)^-1))^-1.

Theorem importance_law q M D : (forall x, 0 < q x <= 1) -> mechanism M -> is_law (importance q M D).
Proof. by move=> q01 m; apply: sampled_law => // x; case/andP: (q01 x) => /ltW -> ->. Qed.

(* Theorem 6, direction plus, with weights. *)
Theorem importance_plus q M D x E : (forall x, 0 < q x <= 1) -> mechanism M -> pdp_plus M E -> x \notin D ->
  within (psi_plus q E x) (importance q M (x |: D)) (importance q M D).
Proof.
move=> q01 m h nx; apply: amplification_plus => //.
- by move=> y; case/andP: (q01 y) => /ltW -> ->.
- by move=> S o; case: (m (weigh (fun x => (q x)^-1) S)).
move=> S sD; rewrite weigh_put; apply: h.
  by apply: weigh_absent; apply: contra nx; apply: (subsetP sD).
by case/andP: (q01 x) => q0 q1; rewrite invf_ge1.
Qed.

(* Theorem 6, direction minus, with weights. *)
Theorem importance_minus q M D x E : (forall x, 0 < q x <= 1) -> mechanism M -> pdp_minus M E ->
  (forall w x, 1 <= w -> 1 <= E w x) -> x \notin D ->
  within (psi_minus q E x) (importance q M D) (importance q M (x |: D)).
Proof.
move=> q01 m h e1 nx; have /andP[q0 q1] := q01 x.
have w1 : 1 <= (q x)^-1 by rewrite invf_ge1.
have e0 : 0 < E (q x)^-1 x by apply: lt_le_trans (e1 _ x w1); rewrite ltr01.
apply: amplification_minus => //.
- by move=> y; case/andP: (q01 y) => /ltW -> ->.
- by move=> S o; case: (m (weigh (fun x => (q x)^-1) S)).
- by rewrite invr_ge0 ltW.
- have -> : 1 - q x * (1 - (E (q x)^-1 x)^-1) = (1 - q x) + q x / E (q x)^-1 x by ring.
  by rewrite ltr_paddl ?subr_ge0 // divr_gt0.
move=> S o sD; rewrite mulrC ler_pdivr_mulr // mulrC weigh_put; apply: h => //.
by apply: weigh_absent; apply: contra nx; apply: (subsetP sD).
Qed.

(* psi of a profile that holds in both directions is that of the direction plus (Theorem 6). *)
Theorem psi_minus_le_plus q E x : 0 < q x <= 1 -> 1 <= E (q x)^-1 x -> psi_minus q E x <= psi_plus q E x.
Proof.
rewrite /psi_minus /psi_plus => /andP[q0 q1] e1; set F := E _ _ in e1 *.
have f0 : 0 < F by apply: lt_le_trans e1; rewrite ltr01.
have d0 : 0 < 1 - q x * (1 - F^-1).
  have -> : 1 - q x * (1 - F^-1) = (1 - q x) + q x / F by ring.
  by rewrite ltr_paddl ?subr_ge0 // divr_gt0.
rewrite -[X in X <= _]mul1r ler_pdivr_mulr // -subr_ge0.
have -> : (1 + q x * (F - 1)) * (1 - q x * (1 - F^-1)) - 1 = q x * (1 - q x) * ((F - 1) ^+ 2 / F).
  by field; rewrite gt_eqF.
by apply: mulr_ge0; [apply: mulr_ge0; rewrite ?subr_ge0 ?(ltW q0)|rewrite divr_ge0 ?sqr_ge0 ?(ltW f0)].
Qed.

(* So a number that psi does not exceed at any record bounds the sampled mechanism in both directions, whoever comes or goes. *)
Theorem importance_worst_case q M D x E B : (forall x, 0 < q x <= 1) -> mechanism M -> pdp M E ->
  (forall w x, 1 <= w -> 1 <= E w x) -> (forall x, psi_plus q E x <= B) -> x \notin D ->
  within B (importance q M (x |: D)) (importance q M D) /\ within B (importance q M D) (importance q M (x |: D)).
Proof.
move=> q01 m [hp hm] e1 le nx; have [w1 p0] : 1 <= (q x)^-1 /\ forall S o, 0 <= importance q M S o.
  split=> [|S o]; last by case: (@importance_law q M S q01 m).
  by have /andP[q0 q1] := q01 x; rewrite invf_ge1.
split; first by apply: within_le (le x) (importance_plus q01 m hp nx).
apply: within_le (importance_minus q01 m hm e1 nx) => //.
by apply: le_trans (psi_minus_le_plus _ _) (le x) => //; apply: e1.
Qed.

(* Lemma 3.1 of Ghazi et al.: nothing has to be known of the direction minus, if q < 1. *)
Theorem one_sided_minus q M D x : (forall x, 0 < q x <= 1) -> mechanism M -> q x < 1 -> x \notin D ->
  within (1 - q x)^-1 (importance q M D) (importance q M (x |: D)).
Proof.
move=> q01 m q1 nx; have := @amplification_minus R X O q (fun S => M (weigh (fun x => (q x)^-1) S)) D x 0.
rewrite subr0 mulr1; apply=> //.
- by move=> y; case/andP: (q01 y) => /ltW -> ->.
- by move=> S o; case: (m (weigh (fun x => (q x)^-1) S)).
- by rewrite subr_gt0.
by move=> S o sD; rewrite mul0r; case: (m (weigh (fun x => (q x)^-1) (x |: S))).
Qed.

End Importance.

Section Attained.
Variable R : realFieldType.

(* The smallest mechanism: it looks whether the only record is there, and has two outputs. Ep, Em are its factors. *)
Definition two_point (Ep Em : R) (S : {set unit}) (o : bool) : R :=
  let t := (1 - Em^-1) / (Ep - Em^-1) in
  if tt \in S then (if o then t * Ep else (1 - t) / Em) else (if o then t else 1 - t).

Variables (Ep Em q : R).
Hypotheses (p1 : 1 < Ep) (m1 : 1 < Em) (q0 : 0 <= q) (q1 : q <= 1).
Let M := two_point Ep Em.
Let law (S : {set unit}) := sampled (fun _ : unit => q) M S.

Let m0 : 0 < Em. Proof. by apply: lt_trans m1; rewrite ltr01. Qed.
Let i1 : Em^-1 < 1. Proof. by rewrite invf_lt1. Qed.
Let d0 : 0 < Ep - Em^-1. Proof. by rewrite subr_gt0 (lt_trans i1). Qed.
Let mp : Ep * Em - 1 != 0.
Proof.
by have -> : Ep * Em - 1 = Em * (Ep - Em^-1); [field; rewrite gt_eqF|rewrite mulf_neq0 ?gt_eqF].
Qed.

Lemma two_point_law S : is_law (M S).
Proof.
have t0 : 0 <= (1 - Em^-1) / (Ep - Em^-1) by apply: ltW; rewrite divr_gt0 // subr_gt0.
have t1 : 0 <= 1 - (1 - Em^-1) / (Ep - Em^-1).
  by rewrite subr_ge0 ler_pdivr_mulr // mul1r ler_add2r; apply: ltW.
have p0 : 0 <= Ep by apply: ltW; rewrite (lt_trans _ p1) ?ltr01.
split=> [o|]; rewrite /M /two_point.
  by case: (tt \in S); case: o => //; [rewrite mulr_ge0|rewrite divr_ge0 // (ltW m0)].
rewrite big_bool /=; case: (tt \in S); last by ring.
by field; rewrite (gt_eqF m0) ?mp.
Qed.

(* The mechanism has the factors Ep and Em, and on a sample it attains 1 + q (Ep - 1) and 1 / (1 - q (1 - 1/Em)):
   one of its two outputs has this ratio of probabilities in each direction. So no smaller factor is true of all mechanisms. *)
Theorem amplification_attained :
  [/\ (forall S, is_law (M S)), within Ep (M [set tt]) (M set0) /\ within Em (M set0) (M [set tt]),
      law [set tt] true = (1 + q * (Ep - 1)) * law set0 true /\ 0 < law set0 true &
      law set0 false = (1 - q * (1 - Em^-1))^-1 * law [set tt] false /\ 0 < law set0 false].
Proof.
have t0 : 0 < (1 - Em^-1) / (Ep - Em^-1) by rewrite divr_gt0 // subr_gt0.
have t1 : 0 < 1 - (1 - Em^-1) / (Ep - Em^-1) by rewrite subr_gt0 ltr_pdivr_mulr // mul1r ltr_add2r.
have p0 : 0 < Ep by rewrite (lt_trans _ p1) ?ltr01.
have s1 o : law [set tt] o = (1 - q) * M set0 o + q * M [set tt] o.
  by rewrite /law -[X in sampled _ _ X]setU0 sampled_split ?inE // !sampled0 setU0.
have s0 o : law set0 o = M set0 o by rewrite /law sampled0.
have d1 : 0 < 1 - q * (1 - Em^-1).
  have -> : 1 - q * (1 - Em^-1) = (1 - q) + q / Em by ring.
  case: (ltrgt0P q) q0 => // [qp|->] _; last by rewrite mul0r subr0 addr0 ltr01.
  by rewrite ltr_paddl ?subr_ge0 ?divr_gt0.
split; first exact: two_point_law.
- split=> o; rewrite /M /two_point !inE /=; case: o.
  + by rewrite mulrC.
  + by rewrite [X in _ <= X]mulrC ler_wpmul2l ?(ltW t1) // (le_trans (ltW i1) (ltW p1)).
  + by rewrite mulrCA ler_pemulr ?(ltW t0) // -[1]mulr1 ler_pmul ?ler01 ?(ltW m1) ?(ltW p1).
  by rewrite [X in _ <= X]mulrC mulfVK ?gt_eqF.
- rewrite s1 !s0 /M /two_point !inE /=; split=> //; ring.
rewrite s1 s0 /M /two_point !inE /=; split=> //; set u := 1 - _ / _.
have -> : (1 - q) * u + q * (u / Em) = u * (1 - q * (1 - Em^-1)) by ring.
by rewrite mulrC mulfK // gt_eqF.
Qed.

End Attained.

Section SameSample.
Variables (R : realFieldType) (X O : finType).

(* Item 4. One sample is used T times: rounds on the sample are composed first, and sampled once. Their factor is that of the T-fold
   composition, amplified: 1 + q (E^T - 1). *)
Theorem same_sample_plus n (q : X -> R) (M : seq O -> wdata R X -> O -> R) (E : R -> X -> R) (D : {set X}) x :
  (forall x, 0 < q x <= 1) -> (forall past, mechanism (M past)) -> (forall w x, 1 <= w -> 0 <= E w x) ->
  (forall past, pdp (M past) E) -> x \notin D ->
  within (1 + q x * (E (q x)^-1 x ^+ n - 1)) (importance q (run (n := n) M) (x |: D)) (importance q (run (n := n) M) D).
Proof.
move=> q01 m e0 h nx; have [hp _] := pdp_composition_n n m (fun _ => e0) h.
have -> : 1 + q x * (E (q x)^-1 x ^+ n - 1) = psi_plus q (fun w x => \prod_(i < n) E w x) x.
  by rewrite /psi_plus prodr_const card_ord.
by apply: importance_plus => // D'; apply: rounds_law => past; apply: m.
Qed.

Theorem same_sample_minus n (q : X -> R) (M : seq O -> wdata R X -> O -> R) (E : R -> X -> R) (D : {set X}) x :
  (forall x, 0 < q x <= 1) -> (forall past, mechanism (M past)) -> (forall w x, 1 <= w -> 1 <= E w x) ->
  (forall past, pdp (M past) E) -> x \notin D ->
  within (1 - q x * (1 - (E (q x)^-1 x ^+ n)^-1))^-1
    (importance q (run (n := n) M) D) (importance q (run (n := n) M) (x |: D)).
Proof.
move=> q01 m e1 h nx.
have e0 w y : 1 <= w -> 0 <= E w y by move=> w1; apply: le_trans (e1 _ y w1); rewrite ler01.
have [_ hm] := pdp_composition_n n m (fun _ => e0) h.
have -> : (1 - q x * (1 - (E (q x)^-1 x ^+ n)^-1))^-1 = psi_minus q (fun w x => \prod_(i < n) E w x) x.
  by rewrite /psi_minus prodr_const card_ord.
apply: importance_minus => // [D'|w y w1]; first by apply: rounds_law => past; apply: m.
by rewrite prodr_const card_ord exprn_ege1 ?e1.
Qed.

End SameSample.

Section NotFresh.
Variable R : realFieldType.

(* Two uses of one sample, q = 1/2, of a mechanism with the factor 2 in both directions. The output (A, A) has the ratio 5/2. Accounted as if
   each use had a sample of its own, they would be promised (1 + (2 - 1)/2)^2 = 9/4, which is less. *)
Definition half : R := 2%:R^-1.
Definition twice (S : {set unit}) (o : bool * bool) : R := two_point 2%:R 2%:R S o.1 * two_point 2%:R 2%:R S o.2.

Theorem same_sample_is_not_fresh : let law := sampled (fun _ : unit => half) twice in
  [/\ within (1 + half * (2%:R - 1)) (sampled (fun _ => half) (two_point 2%:R 2%:R) [set tt]) (sampled (fun _ => half) (two_point 2%:R 2%:R) set0),
      law [set tt] (true, true) = 5%:R / 2%:R * law set0 (true, true), 0 < law set0 (true, true) &
      (1 + half * (2%:R - 1)) ^+ 2 < 5%:R / 2%:R].
Proof.
have h01 : 0 <= half <= 1 by rewrite /half invr_ge0 ler0n invf_le1 ?ltr0n // ler1n.
have two1 : 1 < 2%:R :> R by rewrite ltr1n.
have tp S := two_point_law two1 two1 S.
have [_ [hp hm] _ _] := @amplification_attained R 2%:R 2%:R half two1 two1 (proj1 (andP h01)) (proj2 (andP h01)).
have s1 (O : finType) (N : {set unit} -> O -> R) o :
    sampled (fun _ : unit => half) N [set tt] o = (1 - half) * N set0 o + half * N [set tt] o.
  by rewrite -[X in sampled _ _ X]setU0 sampled_split ?inE // !sampled0 setU0.
split.
- move=> o; rewrite s1 sampled0; have := hp o.
  set a := two_point _ _ _ _; set b := two_point _ _ _ _ => le.
  have -> : (1 + half * (2%:R - 1)) * b = (1 - half) * b + half * (2%:R * b) by ring.
  by rewrite ler_add2l ler_wpmul2l //; case/andP: h01.
- by rewrite s1 sampled0 /twice /two_point !inE /= /half; field.
- by rewrite sampled0 /twice /two_point inE /= -expr2 exprn_gt0 // divr_gt0 ?subr_gt0 ?invf_lt1 ?ltr0n // (lt_trans _ two1) ?invf_lt1 ?ltr0n.
rewrite -subr_gt0; have -> : 5%:R / 2%:R - (1 + half * (2%:R - 1)) ^+ 2 = 4%:R^-1 :> R by rewrite /half; field.
by rewrite invr_gt0 ltr0n.
Qed.

End NotFresh.
