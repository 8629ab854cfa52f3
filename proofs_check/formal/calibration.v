(* Item 6: which pairs (p, E0) make every one-sided mechanism with the factor E0 private in both directions with the factor E, when it is run
   on a sample that keeps each record with probability p; and that p = 1 - 1/E, E0 = 1 + E is the best of them (docs/one-sided.md, Theorem 3). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From PDP Require Import laws composition sampling.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Calibration.
Variables (R : realFieldType).
Implicit Types p E : R.

(* The two conditions: psi of the direction minus, and of the direction plus, are within E. *)
Definition allowed E p E0 := (p <= 1 - E^-1) && (1 + p * (E0 - 1) <= E).

(* They suffice for every mechanism with the factor E0 in the direction plus. *)
Theorem calibrated_is_private (X O : finType) (N : {set X} -> O -> R) (D : {set X}) x E p E0 :
  1 < E -> 0 <= p -> allowed E p E0 -> (forall S, is_law (N S)) -> x \notin D ->
  (forall (S : {set X}) y, y \notin S -> within E0 (N (y |: S)) (N S)) ->
  let law := sampled (fun _ => p) N in within E (law (x |: D)) (law D) /\ within E (law D) (law (x |: D)).
Proof.
move=> E1 p0 /andP[pE EE] n nx h law.
have E0p : 0 < E by rewrite (lt_trans _ E1) ?ltr01.
have p1 : p <= 1 by apply: le_trans pE _; rewrite ler_subl_addr ler_addl invr_ge0 ltW.
have q01 (y : X) : 0 <= p <= 1 by rewrite p0 p1.
have n0 S o : 0 <= N S o by case: (n S).
have s0 D' o : 0 <= law D' o by apply: sampled_ge0.
have pp : 0 < 1 - p by rewrite subr_gt0 (le_lt_trans pE) // ltr_subl_addr ltr_addl invr_gt0.
have nD (S : {set X}) : S \subset D -> x \notin S by move=> sD; apply: contra nx; apply: (subsetP sD).
split.
  apply: (@within_le R O (1 + p * (E0 - 1))) => //.
  by apply: (@amplification_plus R X O (fun _ => p)) => // S sD; apply: h; apply: nD.
apply: (@within_le R O (1 - p)^-1) => //.
  by rewrite -[E]invrK lef_pinv ?posrE ?invr_gt0 // ler_subr_addl addrC -ler_subr_addl.
have := @amplification_minus R X O (fun _ => p) N D x 0; rewrite subr0 mulr1; apply=> // S o _.
by rewrite mul0r.
Qed.

(* They are needed: the smallest mechanism with the factors E0 and Em attains both, and Em may be as large as one likes. *)
Theorem calibration_is_needed E p E0 : 1 < E -> 0 <= p <= 1 -> 1 < E0 ->
  (forall Em, 1 < Em -> let law := sampled (fun _ : unit => p) (two_point E0 Em) in
     within E (law [set tt]) (law set0) /\ within E (law set0) (law [set tt])) -> allowed E p E0.
Proof.
move=> E1 /andP[p0 p1] E01 h; have E0p : 0 < E by rewrite (lt_trans _ E1) ?ltr01.
have minus Em : 1 < Em -> 1 <= E * (1 - p * (1 - Em^-1)).
  move=> m1; have [_ _ _ [e l0]] := amplification_attained E01 m1 p0 p1.
  have m0 : 0 < Em by rewrite (lt_trans _ m1) ?ltr01.
  have d1 : 0 < 1 - p * (1 - Em^-1).
    have -> : 1 - p * (1 - Em^-1) = (1 - p) + p / Em by ring.
    case: (ltrgt0P p) p0 => // [pp|->] _; last by rewrite mul0r subr0 addr0 ltr01.
    by rewrite ltr_paddl ?subr_ge0 ?divr_gt0.
  have [_ /(_ false)] := h Em m1; set a := sampled _ _ _ _ in e l0 *; set b := sampled _ _ _ _ in e *.
  have -> : b = a * (1 - p * (1 - Em^-1)) by rewrite e mulrC mulVKf // gt_eqF.
  by rewrite mulrCA ler_pmulr.
apply/andP; split.
  rewrite leNgt; apply/negP => lt.
  have s0 : 0 < E * p - (E - 1) by rewrite subr_gt0 -ltr_pdivr_mull // mulrC mulrBl mulfV ?gt_eqF // mul1r.
  pose Em := 1 + (E * p + 1) / (E * p - (E - 1)).
  have ep : 0 <= E * p by rewrite mulr_ge0 // ltW.
  have m1 : 1 < Em by rewrite ltr_addl divr_gt0 // ltr_paddl ?ltr01.
  have m0 : 0 < Em by rewrite (lt_trans _ m1) ?ltr01.
  have := minus Em m1; rewrite leNgt => /negP; apply.
  have -> : E * (1 - p * (1 - Em^-1)) = 1 - (E * p - (E - 1)) + E * p / Em by ring.
  rewrite -addrA gtr_addl addrC subr_lt0 ltr_pdivr_mulr // /Em mulrDr mulr1 mulrCA mulfV ?gt_eqF // mulr1.
  by rewrite ltr_paddl ?ltW // ltr_addl ltr01.
have m1 : 1 < E0 + 1 by rewrite ltr_addr (lt_trans _ E01) ?ltr01.
have [_ _ [e l0] _] := amplification_attained E01 m1 p0 p1.
by have [/(_ true)] := h _ m1; rewrite e ler_pmul2r.
Qed.

(* The best pair is allowed, with equality in both, *)
Theorem best_calibration_allowed E : 1 < E -> allowed E (1 - E^-1) (1 + E) /\ 1 + (1 - E^-1) * E = E.
Proof.
move=> E1; have E0 : E != 0 by rewrite gt_eqF // (lt_trans _ E1) ?ltr01.
have e : 1 + (1 - E^-1) * E = E by rewrite mulrBl mulVf // mul1r addrC subrK.
by rewrite /allowed lexx /= (_ : 1 + E - 1 = E) ?e //; ring.
Qed.

(* and p times eps0 is largest there: if p = a/m is another allowed probability, in parts of m with 1 - 1/E = b/m, and E0, E0' are the largest
   factors for them, then E0^a <= E0'^b, that is p eps0 <= p' eps0'. *)
Lemma bernoulli (t : R) k : t <= 1 -> 1 - k%:R * t <= (1 - t) ^+ k.
Proof.
move=> t1; elim: k => [|k ih]; first by rewrite mul0r subr0 expr0.
rewrite exprS; case: (lerP 0 (1 - k%:R * t)) => h.
  apply: (@le_trans _ _ ((1 - t) * (1 - k%:R * t))); last by rewrite ler_wpmul2l // subr_ge0.
  have e : (1 - t) * (1 - k%:R * t) - (1 - k.+1%:R * t) = k%:R * t ^+ 2 by rewrite -addn1 natrD; ring.
  by rewrite -subr_ge0 e mulr_ge0 ?ler0n ?sqr_ge0.
apply: (@le_trans _ _ 0); last by rewrite mulr_ge0 ?exprn_ge0 ?subr_ge0.
have t0 : 0 <= t.
  rewrite leNgt; apply/negP => tn; move: h; rewrite ltNge => /negP; apply.
  by rewrite subr_ge0 (le_trans (mulr_ge0_le0 (ler0n _ _) (ltW tn))) ?ler01.
by apply: le_trans (ltW h); rewrite ler_add2l ler_opp2 ler_wpmul2r // ler_nat.
Qed.

Lemma compound_step (c : R) a : - a.+1%:R < c -> (1 + c / a.+1%:R) ^+ a.+1 <= (1 + c / a.+2%:R) ^+ a.+2.
Proof.
set k : R := a.+1%:R => ck; have k0 : 0 < k by rewrite ltr0n.
have k1 : a.+2%:R = k + 1 by rewrite -[a.+2]addn1 natrD.
have kc : 0 < k + c by rewrite -ltr_subl_addl sub0r.
have kk : 0 < k + 1 by rewrite -k1 ltr0n.
pose t := c / ((k + c) * (k + 1)).
have x0 : 0 < 1 + c / k.
  have -> : 1 + c / k = (k + c) / k by field; rewrite gt_eqF.
  by rewrite divr_gt0.
have e : 1 + c / a.+2%:R = (1 + c / k) * (1 - t) by rewrite k1 /t; field; rewrite !gt_eqF.
rewrite e exprMn [(1 + c / k) ^+ a.+2]exprS -mulrA mulrCA ler_pmulr ?exprn_gt0 //.
have t1 : t <= 1.
  have e' : (k + c) * (k + 1) - c = k * (k + c + 1) by ring.
  rewrite ler_pdivr_mulr ?mulr_gt0 // mul1r -subr_ge0 e'.
  by rewrite ltW ?mulr_gt0 ?(addr_gt0 kc) ?ltr01.
apply: (@le_trans _ _ ((1 + c / k) * (1 - a.+2%:R * t))); last by rewrite ler_wpmul2l ?(ltW x0) ?bernoulli.
by rewrite k1 /t (_ : (1 + c / k) * _ = 1) //; field; rewrite !gt_eqF.
Qed.

Lemma compound (c : R) a b : - a%:R < c -> (0 < a <= b)%N -> (1 + c / a%:R) ^+ a <= (1 + c / b%:R) ^+ b.
Proof.
case: a => // a ca /andP[_]; case: b => // b; rewrite ltnS => /subnK <-.
elim: (b - a)%N => [|k ih]; first by rewrite add0n.
apply: le_trans ih _; rewrite addSn; apply: compound_step; apply: le_lt_trans ca.
by rewrite ler_opp2 ler_nat ltnS leq_addl.
Qed.

Theorem best_calibration (c : R) a b : 0 <= c -> (0 < a <= b)%N -> (1 + c / a%:R) ^+ a <= (1 + c / b%:R) ^+ b.
Proof.
move=> c0 /andP[a0 ab]; apply: compound; rewrite ?a0 //.
by apply: lt_le_trans c0; rewrite oppr_lt0 ltr0n.
Qed.

(* The same for any p, with no roots: logarithms are compared by powers. "p log E0 <= p' log E0'" says that no fraction k/m is at most
   log E0 / log E0' (E0'^k <= E0^m) and more than p'/p. *)
Definition log_at_most p E0 p' E0' := forall k m : nat, (0 < m)%N -> E0' ^+ k <= E0 ^+ m -> k%:R * p <= m%:R * p'.

Lemma rational_bernoulli (x : R) k m : - m%:R < k%:R * x -> (0 < m <= k)%N -> (1 + k%:R * x / m%:R) ^+ m <= (1 + x) ^+ k.
Proof.
move=> kx mk; have k0 : 0 < k%:R :> R by case/andP: mk => m0 le; rewrite ltr0n (leq_trans m0).
by have := compound kx mk; rewrite [k%:R * x / k%:R]mulrAC divff ?mul1r // gt_eqF.
Qed.

(* p log(1 + c/p) rises in p. *)
Lemma compound_rises (c p p' : R) : 0 < c -> 0 < p <= p' -> log_at_most p (1 + c / p) p' (1 + c / p').
Proof.
move=> c0 /andP[p0 pp] k m m0; apply: contraTT; rewrite -!ltNge => lt.
have p'0 : 0 < p' by apply: lt_le_trans pp.
have mr : 0 < m%:R :> R by rewrite ltr0n.
have mk : (m <= k)%N.
  rewrite -(ler_nat R) -(ler_pmul2r p0); apply: ltW; apply: le_lt_trans lt.
  by rewrite ler_pmul2l.
apply: lt_le_trans (@rational_bernoulli (c / p') k m _ _); last by rewrite m0.
  rewrite ltr_expn2r -?lt0n ?addr_ge0 ?divr_ge0 ?ler01 ?(ltW c0) ?(ltW p0) // ltr_add2l ltr_pdivl_mulr // mulrAC ltr_pdivr_mulr //.
  have -> : k%:R * (c / p') * p = c * (k%:R * p) / p' by ring.
  by rewrite ltr_pdivl_mulr // -mulrA ltr_pmul2l.
apply: (@lt_le_trans _ _ 0); first by rewrite oppr_lt0.
by rewrite mulr_ge0 ?ler0n // divr_ge0 ?(ltW c0) ?(ltW p'0).
Qed.

Lemma log_at_most_smaller p E0 E1 p' E0' : 0 <= E0 <= E1 -> log_at_most p E1 p' E0' -> log_at_most p E0 p' E0'.
Proof.
move=> /andP[e0 e1] h k m m0 le; apply: h => //; apply: le_trans le _.
by apply: ler_expn2r; rewrite ?nnegrE // (le_trans e0).
Qed.

(* So of all pairs that are allowed, for real p, p = 1 - 1/E and E0 = 1 + E have the largest p eps0. *)
Theorem best_calibration_real E p E0 : 1 < E -> 0 < p -> 0 <= E0 -> allowed E p E0 -> log_at_most p E0 (1 - E^-1) (1 + E).
Proof.
move=> E1 p0 e0 /andP[pE pp]; have En : 0 < E by rewrite (lt_trans _ E1) ?ltr01.
have c0 : 0 < E - 1 by rewrite subr_gt0.
have -> : 1 + E = 1 + (E - 1) / (1 - E^-1).
  have u0 : 1 - E^-1 != 0 by rewrite gt_eqF // subr_gt0 invf_lt1.
  congr (_ + _); apply: (mulIf u0); rewrite divfK // mulrBr mulr1 mulfV // gt_eqF //.
apply: (@log_at_most_smaller p E0 (1 + (E - 1) / p)); last by apply: compound_rises => //; rewrite p0.
rewrite e0 -ler_subl_addl ler_pdivl_mulr // mulrC ler_subr_addl //.
Qed.

End Calibration.
