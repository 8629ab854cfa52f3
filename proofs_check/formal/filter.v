(* Item 8: the filter of the ledger. Each unit u has a budget B u, the factor e^B(u). In each round a mechanism is chosen from the outputs so
   far, and costs the unit u the factor c u past. It is charged to u if what u spent so far and this cost are within the budget; otherwise u takes
   no part in the round. So who is active is a function of a unit's own costs and of past outputs. Pasts are lists, the latest output first. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From PDP Require Import laws composition sampling.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Account.
Variables (R : realFieldType) (O : finType) (c : seq O -> R) (B : R).

(* What one unit has spent before the next round, and whether it takes part in it. *)
Fixpoint spent (past : seq O) : R :=
  if past is o :: before then
    if spent before * c before <= B then spent before * c before else spent before
  else 1.
Definition active past := spent past * c past <= B.

(* The same with the rule "once out, always out". *)
Fixpoint account (past : seq O) : R * bool :=
  if past is o :: before then
    let: (s, still) := account before in
    if still && (s * c before <= B) then (s * c before, true) else (s, false)
  else (1, true).
Definition active_once past := (account past).2 && ((account past).1 * c past <= B).

(* What a round costs the unit: nothing if it takes no part. *)
Definition charged (act : seq O -> bool) past := if act past then c past else 1.

Hypotheses (B1 : 1 <= B) (c1 : forall past, 1 <= c past).

Lemma spent_bounds past : 1 <= spent past <= B.
Proof.
elim: past => [|o past /andP[s1 sB]] /=; first by rewrite lexx.
by case: ifP => h; rewrite ?h ?s1 ?sB // andbT mulr_ege1.
Qed.

Lemma account_bounds past : 1 <= (account past).1 <= B.
Proof.
elim: past => [|o past] /=; first by rewrite lexx.
case: (account past) => s still /= /andP[s1 sB].
by case: ifP => [/andP[_ h]|_] /=; rewrite ?h ?s1 ?sB // andbT mulr_ege1.
Qed.

(* An account: a function sp of the past, between 1 and B, which a round multiplies by what it charges. The budget bounds the rest. *)
Lemma charged_within (sp : seq O -> R) act os past :
  (forall past, 1 <= sp past <= B) -> (forall o past, sp (o :: past) = sp past * charged act past) ->
  sp past * cost (charged act) past os <= B.
Proof.
move=> b s; elim: os past => [|o os ih] past /=; first by rewrite mulr1; case/andP: (b past).
by rewrite mulrA -(s o) ih.
Qed.

Lemma spent_charged o past : spent (o :: past) = spent past * charged active past.
Proof. by rewrite /charged /active /=; case: ifP => //; rewrite mulr1. Qed.

Lemma account_charged o past : (account (o :: past)).1 = (account past).1 * charged active_once past.
Proof.
rewrite /charged /active_once /=; case: (account past) => s still /=.
by case: ifP; rewrite //= mulr1.
Qed.

Lemma charged_ge0 act past : 0 <= charged act past.
Proof. by rewrite /charged; case: ifP => _; rewrite ?ler01 ?(le_trans _ (c1 _)) ?ler01. Qed.

End Account.

Section Filter.
Variables (R : realFieldType) (U O : finType).
Implicit Types (D S : {set U}).

(* The mechanism of the round after the past, the set of units on which it runs, and what it costs each unit. *)
Variables (M : seq O -> {set U} -> O -> R) (c : U -> seq O -> R) (B : U -> R).

Definition filtered (act : U -> seq O -> bool) n D : n.-tuple O -> R :=
  @rounds _ _ (fun past => M past [set u in D | act u past]) [::] n.

Hypotheses (M_law : forall past S, is_law (M past S)) (B1 : forall u, 1 <= B u) (c1 : forall u past, 1 <= c u past).

(* The round after the past costs u at most the factor c u past, in both directions. *)
Hypothesis M_cost : forall past S u, u \notin S ->
  within (c u past) (M past (u |: S)) (M past S) /\ within (c u past) (M past S) (M past (u |: S)).

Theorem filtered_law act n D : is_law (@filtered act n D).
Proof. by apply: rounds_law => past; apply: M_law. Qed.

Lemma filtered_within (sp : U -> seq O -> R) act n D u : u \notin D ->
  (forall past, 1 <= sp u past <= B u) -> sp u [::] = 1 ->
  (forall o past, sp u (o :: past) = sp u past * charged (c u) (act u) past) ->
  within (B u) (@filtered act n (u |: D)) (@filtered act n D) /\ within (B u) (@filtered act n D) (@filtered act n (u |: D)).
Proof.
move=> uD b s1 s.
have m0 past S o : 0 <= M past S o by case: (M_law past S).
have bound os : size os = n -> cost (charged (c u) (act u)) [::] os <= B u.
  by move=> _; rewrite -[cost _ _ _]mul1r -s1; apply: charged_within.
have sets past : [set v in u |: D | act v past] =
    if act u past then u |: [set v in D | act v past] else [set v in D | act v past].
  apply/setP=> v; case: ifP => a; rewrite !inE; case: (eqVneq v u) => [->|] //=; by rewrite ?a ?(negbTE uD).
have out past : u \notin [set v in D | act v past] by rewrite inE (negbTE uD).
split; apply: (@rounds_within _ _ _ _ (charged (c u) (act u))) => // past; try exact: charged_ge0.
  by rewrite sets /charged; case: ifP => _; [apply: (M_cost _ (out past)).1|apply: within_refl].
by rewrite sets /charged; case: ifP => _; [apply: (M_cost _ (out past)).2|apply: within_refl].
Qed.

(* L1. The whole transcript costs the unit u at most its budget, for every adaptive choice of rounds. *)
Theorem filter n D u : u \notin D ->
  let act u := active (c u) (B u) in
  within (B u) (@filtered act n (u |: D)) (@filtered act n D) /\ within (B u) (@filtered act n D) (@filtered act n (u |: D)).
Proof.
move=> uD act; apply: (@filtered_within (fun u => spent (c u) (B u))) => //.
  by move=> past; apply: spent_bounds.
by move=> o past; apply: spent_charged.
Qed.

(* The same where a unit that was left out once is left out from then on. *)
Theorem filter_once_out n D u : u \notin D ->
  let act u := active_once (c u) (B u) in
  within (B u) (@filtered act n (u |: D)) (@filtered act n D) /\ within (B u) (@filtered act n D) (@filtered act n (u |: D)).
Proof.
move=> uD act; apply: (@filtered_within (fun u past => (account (c u) (B u) past).1)) => //.
  by move=> past; apply: account_bounds.
by move=> o past; apply: account_charged.
Qed.


End Filter.
