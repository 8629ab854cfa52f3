(* Item 8, continued: rounds on samples under the filter of filter.v, and what it may not tell.

   How many units are active, or that one of them is exhausted, is a function of the data that no coin protects. To publish it breaks every
   budget, although each round costs what is charged (docs/ledger.md, section 2). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From PDP Require Import laws composition sampling filter.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Sampled.
Variables (R : realFieldType) (U O : finType).
Variables (q : seq O -> U -> R) (N : seq O -> wdata R U -> O -> R) (E : seq O -> R -> U -> R) (B : U -> R).

(* L1 with sampled rounds: each draws a fresh Poisson sample of the active units, with importance weights, and charges psi_plus. *)
Theorem filter_sampled n (D : {set U}) u : (forall past x, 0 < q past x <= 1) -> (forall past, mechanism (N past)) ->
  (forall past w x, 1 <= w -> 1 <= E past w x) -> (forall past, pdp (N past) (E past)) -> (forall u, 1 <= B u) -> u \notin D ->
  let c u past := psi_plus (q past) (E past) u in let act u := active (c u) (B u) in
  let law D := @filtered R U O (fun past S => importance (q past) (N past) S) act n D in
  within (B u) (law (u |: D)) (law D) /\ within (B u) (law D) (law (u |: D)).
Proof.
move=> q01 m e1 h B1 uD c act law; apply: filter => // [past S|v past|past S v vS].
- exact: importance_law.
- rewrite /c /psi_plus ler_addl mulr_ge0 ?subr_ge0 ?e1 //; first by case/andP: (q01 past v) => /ltW.
  by case/andP: (q01 past v) => *; rewrite invf_ge1.
split; first by apply: importance_plus (h past).1 vS.
move=> o; apply: le_trans (importance_minus (q01 past) (m past) (h past).2 (e1 past) vS o) _.
rewrite ler_wpmul2r ?psi_minus_le_plus ?e1 //; try by case/andP: (q01 past v) => *; rewrite ?invf_ge1.
by case: (importance_law (v |: S) (q01 past) (m past)).
Qed.

End Sampled.

Section Telling.
Variables (R : realFieldType) (U O V : finType).
Variables (M : seq O -> {set U} -> O -> R) (c : U -> seq O -> R) (B : U -> R).
Variable tell : {set U} -> {set U} -> V.

Definition taking_part (D : {set U}) past := [set u in D | active (c u) (B u) past].

(* The filter that publishes tell (the units, those that take part) besides the output of each round. *)
Definition telling n (D : {set U}) : n.-tuple (O * V) -> R :=
  @rounds R [finType of O * V] (fun past ov => let before := map fst past in
    if tell D (taking_part D before) == ov.2 then M before (taking_part D before) ov.1 else 0) [::] n.

End Telling.

Section Counterexample.
Variable R : realFieldType.

(* One unit, whose budget is the factor 2. Each round is randomised response with the factor 2. *)
Definition response (past : seq bool) : {set unit} -> bool -> R := two_point 2%:R 2%:R.
Let c (u : unit) (past : seq bool) : R := 2%:R.
Let B (u : unit) : R := 2%:R.

Definition number (D A : {set unit}) : 'I_2 := inord #|A|.
Definition exhausted (D A : {set unit}) : bool := A != D.

Lemma response_gt0 past S o : 0 < response past S o.
Proof.
have t1 : 1 < 2%:R :> R by rewrite ltr1n.
have i1 : 2%:R^-1 < 1 :> R by rewrite invf_lt1 // ltr0n.
have d0 : 0 < 2%:R - 2%:R^-1 :> R by rewrite subr_gt0 (lt_trans i1).
have t0 : 0 < (1 - 2%:R^-1) / (2%:R - 2%:R^-1) :> R by rewrite divr_gt0 // subr_gt0.
have s0 : 0 < 1 - (1 - 2%:R^-1) / (2%:R - 2%:R^-1) :> R.
  by rewrite subr_gt0 ltr_pdivr_mulr // mul1r ltr_add2r.
rewrite /response /two_point; case: ifP => _; case: o => //.
  by apply: mulr_gt0 => //; rewrite ltr0n.
by apply: mulr_gt0 => //; rewrite invr_gt0 ltr0n.
Qed.

(* All that the filter needs is there: each round is a law and costs the unit 2 in both directions. So, by filter, the transcript alone is within 2.
   With the number of active units, after one round, no factor E holds in either direction, and with "somebody is exhausted" none after two. *)
Theorem telling_breaks_the_filter :
  [/\ forall past S, is_law (response past S),
      forall past (S : {set unit}) u, u \notin S ->
        within (c u past) (response past (u |: S)) (response past S) /\ within (c u past) (response past S) (response past (u |: S)),
      forall E, ~ within E (telling response c B number (n := 1) [set tt]) (telling response c B number (n := 1) set0) /\
                ~ within E (telling response c B number (n := 1) set0) (telling response c B number (n := 1) [set tt]) &
      forall E, ~ within E (telling response c B exhausted (n := 2) [set tt]) (telling response c B exhausted (n := 2) set0)].
Proof.
have t1 : 1 < 2%:R :> R by rewrite ltr1n.
have [law [hp hm] _ _] := @amplification_attained R 2%:R 2%:R 1 t1 t1 ler01 (lexx 1).
have a0 u : active (c u) (B u) [::] by rewrite /active /= mul1r.
have a1 u o : active (c u) (B u) [:: o] = false.
  by rewrite /active /= mul1r /c /B lexx -natrM ler_nat.
have p0 D : taking_part c B D [::] = D by apply/setP=> u; rewrite !inE a0 andbT.
have p1 o D : taking_part c B D [:: o] = set0 by apply/setP=> u; rewrite !inE a1 andbF.
have n0 : number set0 set0 = 0 by apply/val_inj; rewrite /= inordK cards0.
have n1 : number [set tt] [set tt] = 1 by apply/val_inj; rewrite /= inordK cards1.
have set_unit (S : {set unit}) u : u \notin S -> S = set0 /\ u |: S = [set tt].
  by case: u => nS; have e : S = set0; [apply/setP=> -[]; rewrite inE; apply/negbTE|rewrite e setU0].
split=> // [past S u uS|E|E].
- by have [-> ->] := set_unit S u uS; split; [apply: hp|apply: hm].
- split=> h.
    have := h [tuple (true, number [set tt] [set tt])]; rewrite /telling /rounds /= !p0 eqxx n0 n1 /= !mulr1 mulr0.
    by rewrite leNgt response_gt0.
  have := h [tuple (true, number set0 set0)]; rewrite /telling /rounds /= !p0 eqxx n0 n1 /= !mulr1 mulr0.
  by rewrite leNgt response_gt0.
move=> h; have := h [tuple (true, false); (true, true)].
rewrite /telling /rounds /= !p0 !p1 /exhausted !eqxx /= mul0r !mulr0.
have -> : (set0 != [set tt]) = true by apply/eqP=> /setP /(_ tt); rewrite !inE.
by rewrite eqxx !mulr1 leNgt mulr_gt0 ?response_gt0.
Qed.

End Counterexample.
