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

Lemma compound_step (c : R) a : 0 <= c -> (1 + c / a.+1%:R) ^+ a.+1 <= (1 + c / a.+2%:R) ^+ a.+2.
Proof.
move=> c0; set k : R := a.+1%:R; have k0 : 0 < k by rewrite ltr0n.
have k1 : a.+2%:R = k + 1 by rewrite -[a.+2]addn1 natrD.
have kc : 0 < k + c by rewrite ltr_paddr.
have kk : 0 < k + 1 by rewrite -k1 ltr0n.
pose t := c / ((k + c) * (k + 1)).
have x0 : 0 < 1 + c / k by rewrite ltr_paddr ?ltr01 // divr_ge0 // ltW.
have e : 1 + c / a.+2%:R = (1 + c / k) * (1 - t) by rewrite k1 /t; field; rewrite !gt_eqF.
rewrite e exprMn [(1 + c / k) ^+ a.+2]exprS -mulrA mulrCA ler_pmulr ?exprn_gt0 //.
have t1 : t <= 1.
  have e' : (k + c) * (k + 1) - c = k * k + k + c * k by ring.
  rewrite ler_pdivr_mulr ?mulr_gt0 // mul1r -subr_ge0 e'.
  by rewrite !addr_ge0 ?mulr_ge0 ?(ltW k0).
apply: (@le_trans _ _ ((1 + c / k) * (1 - a.+2%:R * t))); last by rewrite ler_wpmul2l ?(ltW x0) ?bernoulli.
by rewrite k1 /t (_ : (1 + c / k) * _ = 1) //; field; rewrite !gt_eqF.
Qed.

Theorem best_calibration (c : R) a b : 0 <= c -> (0 < a <= b)%N -> (1 + c / a%:R) ^+ a <= (1 + c / b%:R) ^+ b.
Proof.
case: a => // a c0 /andP[_]; case: b => // b; rewrite ltnS => /subnK <-.
elim: (b - a)%N => [|k ih]; first by rewrite add0n.
by apply: le_trans ih _; rewrite addSn; apply: compound_step.
Qed.

End Calibration.
