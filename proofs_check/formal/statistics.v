(* Item 10: the pipeline of private k-means. Statistics of the data are released first (their number, mean, squared norm). The sampling
   probabilities q s, the mechanism M s and its noise are functions of what was released, s: they are public once s is out. Then M s runs on
   the sample. *)
From mathcomp Require Import all_ssreflect all_algebra.
From PDP Require Import laws composition sampling.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Pipeline.
Variables (R : realFieldType) (X S O : finType).
Variables (statistics : {set X} -> S -> R) (q : S -> X -> R) (M : S -> wdata R X -> O -> R).
Variables (E : X -> R) (F : S -> R -> X -> R) (B : X -> R).

Definition pipeline (D : {set X}) : S * O -> R := chain (statistics D) (fun s => importance (q s) (M s) D).

Hypotheses (statistics_law : forall D, is_law (statistics D)) (M_law : forall s, mechanism (M s)) (q01 : forall s x, 0 < q s x <= 1).
Hypotheses (E1 : forall x, 1 <= E x) (F1 : forall s w x, 1 <= w -> 1 <= F s w x).
(* The statistics cost the record x the factor E x; the mechanism that is chosen after s has the profile F s. *)
Hypothesis statistics_cost : forall (D : {set X}) x, x \notin D ->
  within (E x) (statistics (x |: D)) (statistics D) /\ within (E x) (statistics D) (statistics (x |: D)).
Hypothesis M_cost : forall s, pdp (M s) (F s).
(* One bound for all values that the statistics can take. *)
Hypothesis bound : forall s x, E x * psi_plus (q s) (F s) x <= B x.

Theorem pipeline_law D : is_law (pipeline D).
Proof. by apply: chain_law => // s; apply: importance_law. Qed.

Theorem private_statistics (D : {set X}) x : x \notin D ->
  within (B x) (pipeline (x |: D)) (pipeline D) /\ within (B x) (pipeline D) (pipeline (x |: D)).
Proof.
move=> nx; have e0 : 0 < E x by apply: lt_le_trans (E1 x); rewrite ltr01.
have s0 D' s : 0 <= statistics D' s by case: (statistics_law D').
have i0 s D' o : 0 <= importance (q s) (M s) D' o by case: (importance_law D' (q01 s) (M_law s)).
have [sp sm] := statistics_cost nx.
have le s : psi_plus (q s) (F s) x <= B x / E x by rewrite ler_pdivl_mulr // mulrC.
have -> : B x = E x * (B x / E x) by rewrite mulrC divfK // gt_eqF.
split; apply: chain_within; rewrite ?(ltW e0) // => s; apply: (@within_le R O (psi_plus (q s) (F s) x)) => //.
  by apply: importance_plus => //; apply: (M_cost s).1.
move=> o; apply: le_trans (importance_minus (q01 s) (M_law s) (M_cost s).2 (@F1 s) nx o) _.
rewrite ler_wpmul2r // psi_minus_le_plus // F1 //.
by case/andP: (q01 s x) => *; rewrite invf_ge1.
Qed.

End Pipeline.
