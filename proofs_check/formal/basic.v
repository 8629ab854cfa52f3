(* Item 1: post-processing, the worst case over records, groups, and replacing one record. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From PDP Require Import laws.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section PostProcessing.
Variables (R : realFieldType) (O T : finType).
Implicit Types (P Q : O -> R).

Theorem image_law (f : O -> T) P : is_law P -> is_law (image f P).
Proof.
case=> p0 p1; split=> [t|]; first by apply: sumr_ge0.
by rewrite -p1 [RHS](partition_big f xpredT).
Qed.

Theorem through_law (K : O -> T -> R) P : (forall o, is_law (K o)) -> is_law P -> is_law (through K P).
Proof.
move=> k [p0 p1]; split=> [t|]; first by apply: sumr_ge0 => o _; rewrite mulr_ge0 //; case: (k o).
rewrite exchange_big /= -p1; apply: eq_bigr => o _.
by rewrite -mulr_sumr; case: (k o) => _ ->; rewrite mulr1.
Qed.

(* Whatever is computed from the output alone keeps the factor. *)
Theorem post_processing (f : O -> T) E P Q : within E P Q -> within E (image f P) (image f Q).
Proof. by move=> h t; rewrite /image mulr_sumr; apply: ler_sum. Qed.

(* The same with coins: the kernel K may toss as it likes, given the output alone. *)
Theorem post_processing_randomised (K : O -> T -> R) E P Q :
  (forall o, is_law (K o)) -> within E P Q -> within E (through K P) (through K Q).
Proof.
move=> k h t; rewrite /through mulr_sumr; apply: ler_sum => o _.
by rewrite mulrA ler_wpmul2r //; case: (k o).
Qed.

End PostProcessing.

Section Records.
Variables (R : realFieldType) (X O : finType).
Implicit Types (M : wdata R X -> O -> R).

(* Post-processing of a mechanism with a profile. *)
Theorem pdp_post_processing (T : finType) M (K : O -> T -> R) E :
  (forall o, is_law (K o)) -> pdp M E -> pdp (fun D => through K (M D)) E.
Proof.
move=> k [hp hm]; split=> D x w a w1; apply: post_processing_randomised => //; [exact: hp|exact: hm].
Qed.

(* A number that is no smaller than the profile at every record is a bound for all. *)
Theorem worst_case M E B : mechanism M -> (forall w x, 1 <= w -> E w x <= B) -> pdp M E -> pdp M (fun _ _ => B).
Proof.
move=> m le [hp hm]; have p0 D o : 0 <= M D o by case: (m D).
by split=> D x w a w1; [apply: within_le _ _ (hp _ _ _ a w1)|apply: within_le _ _ (hm _ _ _ a w1)] => //; apply: le.
Qed.

(* Records that come one after the other: the data set after each of them. *)
Fixpoint put_all (D : wdata R X) (s : seq (X * R)) : wdata R X :=
  if s is (x, w) :: s' then put_all (put D x w) s' else D.

(* None of them is there before it comes, and no weight is below 1. *)
Fixpoint may_put (D : wdata R X) (s : seq (X * R)) : Prop :=
  if s is (x, w) :: s' then [/\ D x = None, 1 <= w & may_put (put D x w) s'] else True.

Definition cost_of (E : R -> X -> R) (s : seq (X * R)) : R := \prod_(xw <- s) E xw.2 xw.1.

(* Group privacy: the losses of a group's records add up, in both directions. *)
Theorem group_privacy M E (D : wdata R X) s : (forall w x, 1 <= w -> 0 <= E w x) -> pdp M E -> may_put D s ->
  within (cost_of E s) (M (put_all D s)) (M D) /\ within (cost_of E s) (M D) (M (put_all D s)).
Proof.
move=> e0 [hp hm]; elim: s D => [|[x w] s ih] D /=; first by rewrite /cost_of big_nil; split; apply: within_refl.
case=> a w1 ok; have [ihp ihm] := ih _ ok; rewrite /cost_of big_cons /= -/(cost_of E s).
have c0 : 0 <= cost_of E s.
  by elim: s (put D x w) ok {ih ihp ihm} => [|[y v] s ih] D' /=; rewrite /cost_of ?big_nil ?big_cons ?ler01 //= => -[_ v1 /ih]; apply: mulr_ge0; apply: e0.
split=> o.
  by apply: le_trans (ihp o) _; rewrite (mulrC (E w x)) -mulrA ler_wpmul2l // (hp _ _ _ a w1 o).
by apply: le_trans (hm _ _ _ a w1 o) _; rewrite -mulrA ler_wpmul2l ?e0 // ihm.
Qed.

(* Replacing the record (w, x) by (v, y) costs both losses. *)
Theorem replace_one M E (D : wdata R X) x w y v : (forall w x, 1 <= w -> 0 <= E w x) -> pdp M E ->
  D x = None -> D y = None -> 1 <= w -> 1 <= v -> within (E w x * E v y) (M (put D x w)) (M (put D y v)).
Proof.
move=> e0 [hp hm] ax ay w1 v1 o.
by apply: le_trans (hp _ _ _ ax w1 o) _; rewrite -mulrA ler_wpmul2l ?e0 // hm.
Qed.

End Records.
