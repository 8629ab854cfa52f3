(* Item 5, Theorem C of docs/one-sided.md: the calibration for mechanisms whose losses are eps0 in the direction plus and L eps0 in the
   direction minus, as of L rounds of the exponential mechanism (Theorems A and A'). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From PDP Require Import laws composition sampling calibration.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Rounds.
Variables (R : realFieldType) (L : nat).
Implicit Types p E y : R.
Hypothesis L0 : (0 < L)%N.

(* The two conditions: psi of the direction plus, and of the direction minus, are within E. *)
Definition allowed_rounds E p E0 := (1 + p * (E0 - 1) <= E) && (E^-1 <= 1 - p * (1 - E0 ^- L)).

(* They suffice for every mechanism with these factors, *)
Theorem rounds_calibrated_is_private (X O : finType) (N : {set X} -> O -> R) (D : {set X}) x E p E0 :
  1 < E -> 0 <= p <= 1 -> 0 < E0 -> allowed_rounds E p E0 -> (forall S, is_law (N S)) -> x \notin D ->
  (forall (S : {set X}) z, z \notin S -> within E0 (N (z |: S)) (N S) /\ within (E0 ^+ L) (N S) (N (z |: S))) ->
  let law := sampled (fun _ => p) N in within E (law (x |: D)) (law D) /\ within E (law D) (law (x |: D)).
Proof.
move=> E1 p01 e0 /andP[plus minus] n nx h law.
have Ep : 0 < E by rewrite (lt_trans _ E1) ?ltr01.
have n0 S o : 0 <= N S o by case: (n S).
have s0 D' o : 0 <= law D' o by apply: sampled_ge0.
have nD (S : {set X}) : S \subset D -> x \notin S by move=> sD; apply: contra nx; apply: (subsetP sD).
have pos : 0 < 1 - p * (1 - E0 ^- L) by apply: lt_le_trans minus; rewrite invr_gt0.
split.
  apply: (@within_le R O (1 + p * (E0 - 1))) => //.
  by apply: (@amplification_plus R X O (fun _ => p)) => // S sD; case: (h S x (nD S sD)).
apply: (@within_le R O (1 - p * (1 - E0 ^- L))^-1) => //.
  by rewrite -[E]invrK lef_pinv ?posrE ?invr_gt0.
apply: (@amplification_minus R X O (fun _ => p)) => //; first by rewrite invr_ge0 exprn_ge0 // ltW.
by move=> S o sD; rewrite mulrC ler_pdivr_mulr ?exprn_gt0 // mulrC; case: (h S x (nD S sD)) => _; apply.
Qed.

(* and they are needed: the smallest mechanism with these factors attains both. *)
Theorem rounds_calibration_is_needed E p E0 : 1 < E -> 0 <= p <= 1 -> 1 < E0 ->
  (let law := sampled (fun _ : unit => p) (two_point E0 (E0 ^+ L)) in
     within E (law [set tt]) (law set0) /\ within E (law set0) (law [set tt])) -> allowed_rounds E p E0.
Proof.
move=> E1 /andP[p0 p1] e1 [hp hm]; have Ep : 0 < E by rewrite (lt_trans _ E1) ?ltr01.
have m1 : 1 < E0 ^+ L by rewrite exprn_egt1 // -lt0n.
have m0 : 0 < E0 ^+ L by rewrite (lt_trans _ m1) ?ltr01.
have [_ _ [ep lp] [em lm]] := amplification_attained e1 m1 p0 p1.
have d1 : 0 < 1 - p * (1 - E0 ^- L).
  have -> : 1 - p * (1 - E0 ^- L) = (1 - p) + p / E0 ^+ L by ring.
  case: (ltrgt0P p) p0 => // [pp|->] _; last by rewrite mul0r subr0 addr0 ltr01.
  by rewrite ltr_paddl ?subr_ge0 ?divr_gt0.
apply/andP; split; first by have := hp true; rewrite ep ler_pmul2r.
have := hm false; set a := sampled _ _ _ _ in em lm *; set b := sampled _ _ _ _ in em *.
have -> : b = a * (1 - p * (1 - E0 ^- L)) by rewrite em mulrC mulVKf // gt_eqF.
by rewrite mulrCA ler_pmulr // -ler_pdivr_mull // mulr1.
Qed.

(* The best pair: y is the root of y = 1 + E (1 - y^-L) above 1, and p = (E - 1)/(y - 1). *)
Definition root_of E y := 1 < y /\ y = 1 + E * (1 - y ^- L).
Definition best_p E y := (E - 1) / (y - 1).

Lemma root_ge E y : 1 < E -> root_of E y -> E <= y.
Proof.
move=> E1 [y1 e]; rewrite leNgt; apply/negP => lt.
have y0 : 0 < y by rewrite (lt_trans _ y1) ?ltr01.
have Ep : 0 < E by rewrite (lt_trans _ E1) ?ltr01.
have d : 0 < y - 1 by rewrite subr_gt0.
have : y - 1 < y - 1; last by rewrite ltxx.
rewrite {2}e addrAC subrr add0r; apply: lt_le_trans (_ : E * (1 - y^-1) <= _).
  have -> : E * (1 - y^-1) = E / y * (y - 1) by field; rewrite gt_eqF.
  by rewrite -subr_gt0 -[X in _ - X]mul1r -mulrBl mulr_gt0 // subr_gt0 ltr_pdivl_mulr // mul1r.
rewrite ler_wpmul2l ?(ltW Ep) // ler_add2l ler_opp2 lef_pinv ?posrE ?exprn_gt0 //.
by case: L L0 => // n _; rewrite exprS ler_pemulr ?(ltW y0) // exprn_ege1 // ltW.
Qed.

(* It is allowed, with equality in both conditions, *)
Theorem best_rounds_calibration_allowed E y : 1 < E -> root_of E y ->
  [/\ 0 < best_p E y <= 1, 1 + best_p E y * (y - 1) = E & 1 - best_p E y * (1 - y ^- L) = E^-1].
Proof.
move=> E1 r; have [y1 e] := r; have Ey := root_ge E1 r.
have d : 0 < y - 1 by rewrite subr_gt0.
have E0 : E != 0 by rewrite gt_eqF // (lt_trans _ E1) ?ltr01.
have e' : 1 - y ^- L = (y - 1) / E by rewrite {2}e addrAC subrr add0r mulrC mulKf.
split.
- by rewrite divr_gt0 ?subr_gt0 //= ler_pdivr_mulr // mul1r ler_add2r.
- by rewrite /best_p divfK ?gt_eqF // addrC subrK.
rewrite e' /best_p; field; rewrite E0 gt_eqF //.
Qed.

(* and of all pairs that are allowed it has the largest p eps0. *)
Theorem best_rounds_calibration E y p E0 : 1 < E -> root_of E y -> 0 < p -> 1 < E0 -> allowed_rounds E p E0 ->
  log_at_most p E0 (best_p E y) y.
Proof.
move=> E1 r p0 x1 /andP[plus minus]; have [y1 e] := r.
have [/andP[b0 _] bp bm] := best_rounds_calibration_allowed E1 r.
have d : 0 < y - 1 by rewrite subr_gt0.
have c0 : 0 < E - 1 by rewrite subr_gt0.
have x0 : 0 < E0 by rewrite (lt_trans _ x1) ?ltr01.
have y0 : 0 < y by rewrite (lt_trans _ y1) ?ltr01.
case: (lerP p (best_p E y)) => [le|lt].
  have {2}-> : y = 1 + (E - 1) / best_p E y.
    by rewrite /best_p invf_div mulrCA divff ?mulr1 ?gt_eqF // addrC subrK.
  apply: (@log_at_most_smaller R p E0 (1 + (E - 1) / p)); last by apply: compound_rises; rewrite ?p0.
  by rewrite (ltW x0) -ler_subl_addl ler_pdivl_mulr // mulrC ler_subr_addl.
set s := y ^- L in bm *; set t := E0 ^- L in minus *; set b := best_p E y in lt bm b0 *.
have s0 : 0 < s by rewrite invr_gt0 exprn_gt0.
have t0 : 0 < t by rewrite invr_gt0 exprn_gt0.
have t1 : t < 1 by rewrite invf_lt1 ?exprn_gt0 // exprn_egt1 // -lt0n.
have s1 : s < 1 by rewrite invf_lt1 ?exprn_gt0 // exprn_egt1 // -lt0n.
have w1 : p * (1 - t) <= b * (1 - s) by move: minus; rewrite -bm ler_add2l ler_opp2.
have st : s < t.
  rewrite ltNge; apply/negP => ts; move: w1; rewrite leNgt => /negP; apply.
  apply: (@lt_le_trans _ _ (p * (1 - s))); first by rewrite ltr_pmul2r ?subr_gt0.
  by rewrite ler_pmul2l // ler_add2l ler_opp2.
have xy : E0 < y.
  rewrite ltNge; apply/negP => le; move: st; rewrite ltNge => /negP; apply; rewrite lef_pinv ?posrE ?exprn_gt0 //.
  by apply: ler_expn2r; rewrite ?nnegrE ?(ltW x0) ?(ltW y0).
move=> k m m0 le; case: (posnP k) => [->|k0]; first by rewrite mul0r mulr_ge0 ?ler0n ?(ltW b0).
have km : (k <= m)%N.
  rewrite leqNgt; apply/negP => mk; move: le; rewrite leNgt => /negP; apply.
  apply: (@le_lt_trans _ _ (y ^+ m)); last by rewrite ltr_eexpn2l.
  by apply: ler_expn2r; rewrite ?nnegrE ?(ltW x0) ?(ltW y0) ?(ltW xy).
have powers : t ^+ m <= s ^+ k.
  rewrite /s /t -!exprVn -!exprM mulnC [(L * k)%N]mulnC !exprM; apply: ler_expn2r; rewrite ?nnegrE ?exprn_ge0 ?invr_ge0 ?(ltW x0) ?(ltW y0) //.
  by rewrite !exprVn lef_pinv ?posrE ?exprn_gt0.
have kr : 0 < k%:R :> R by rewrite ltr0n.
have main : k%:R * (1 - s) <= m%:R * (1 - t).
  rewrite leNgt; apply/negP => h; move: powers; rewrite leNgt => /negP; apply.
  have up : - k%:R < m%:R * (t - 1).
    rewrite ltr_oppl -mulrN opprB; apply: lt_trans h _; rewrite -[X in _ < X]mulr1 ltr_pmul2l //.
    by rewrite gtr_addl oppr_lt0.
  have := rational_bernoulli up; rewrite k0 km => /(_ isT); rewrite [1 + (t - 1)]addrC subrK; apply: lt_le_trans.
  rewrite ltr_expn2r -?lt0n ?(ltW s0) // -ltr_subl_addl ltr_pdivl_mulr // mulrC -ltr_opp2 -!mulrN !opprB.
  exact: h.
have q0 : 0 < 1 - t by rewrite subr_gt0.
rewrite -(ler_pmul2r q0) -mulrA; apply: (@le_trans _ _ (k%:R * (b * (1 - s)))); first by rewrite ler_wpmul2l ?ler0n.
by rewrite mulrCA [m%:R * b]mulrC -[X in _ <= X]mulrA ler_wpmul2l ?(ltW b0).
Qed.

End Rounds.

Section Root.
Variables (R : rcfType) (L : nat).

(* In a real closed field there is such a root, between E and 1 + E. *)
Theorem root_exists (E : R) : (0 < L)%N -> 1 < E -> exists2 y, E <= y <= 1 + E & root_of L E y.
Proof.
move=> L0 E1; have Ep : 0 < E by rewrite (lt_trans _ E1) ?ltr01.
pose P : {poly R} := 'X^L * ('X - (1 + E)%:P) + E%:P.
have PE z : P.[z] = z ^+ L * (z - (1 + E)) + E by rewrite /P !hornerE hornerXn.
have [||y /andP[Ey y1] /rootP ry] := @poly_ivt R P E (1 + E); first by rewrite ler_addr ler01.
  rewrite !PE subrr mulr0 add0r (ltW Ep) andbT.
  have -> : E - (1 + E) = -1 by ring.
  by case: L L0 => // n _; rewrite mulrN1 exprS addrC subr_le0 ler_pemulr ?(ltW Ep) // exprn_ege1 // ltW.
have y0 : 1 < y by apply: lt_le_trans Ey.
exists y; first by rewrite Ey.
split=> //; have z : y ^+ L != 0 by rewrite expf_neq0 // gt_eqF // (lt_trans _ y0) ?ltr01.
move: ry; rewrite PE => h.
have e : y - (1 + E) = - E / y ^+ L by apply: (mulfI z); rewrite mulrCA divff // mulr1; apply/eqP; rewrite -addr_eq0 h.
by rewrite -[LHS](subrK (1 + E)) e; move: ((y ^+ L)^-1) => w; ring.
Qed.

End Root.
