(* Laws, losses and data sets: what the theorems of this folder speak of.

   A law on a finite set O of outputs is a function p : O -> R that is not negative and sums to 1.
   R is any ordered field (the rationals, or the reals). A privacy loss eps is its factor E = e^eps,
   so that no analysis is needed: eps1 + eps2 is E1 * E2, and eps = 0 is E = 1.

   Neighbors differ in one record more. "plus" compares the law with the record to the one without it
   (the record goes), "minus" the other way round (the record comes). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Laws.
Variables (R : realFieldType) (O T : finType).
Implicit Types (P Q : O -> R) (E : R) (A : pred O).

Definition is_law P := (forall o, 0 <= P o) /\ \sum_o P o = 1.

(* The probability of an event. *)
Definition event P A := \sum_(o | A o) P o.

(* The law P is at most E times the law Q. *)
Definition within E P Q := forall o, P o <= E * Q o.

(* The law of f(o), and of an output drawn from K o, for o drawn from P. *)
Definition image (f : O -> T) P := fun t => \sum_(o | f o == t) P o.
Definition through (K : O -> T -> R) P := fun t => \sum_o P o * K o t.

(* A bound for every output is one for every event, and conversely: nothing is lost by speaking of outputs. *)
Theorem within_events E P Q : within E P Q <-> forall A, event P A <= E * event Q A.
Proof.
split=> [h A|h o]; last by have := h (pred1 o); rewrite /event !big_pred1_eq.
by rewrite /event mulr_sumr ler_sum.
Qed.

Lemma within_le E E' P Q : (forall o, 0 <= Q o) -> E <= E' -> within E P Q -> within E' P Q.
Proof. by move=> q0 le h o; apply: le_trans (h o) _; rewrite ler_wpmul2r. Qed.

Lemma within_refl P : within 1 P P.
Proof. by move=> o; rewrite mul1r. Qed.

End Laws.

Section Data.
Variables (R : realFieldType) (X : finType).

(* A weighted data set: which records are present, and with which weight. *)
Definition wdata := {ffun X -> option R}.

(* The data set with the record x of weight w put in. *)
Definition put (D : wdata) (x : X) (w : R) : wdata := [ffun y => if y == x then Some w else D y].

(* The data set that has the records of S, each with its weight. *)
Definition weigh (w : X -> R) (S : {set X}) : wdata := [ffun x => if x \in S then Some (w x) else None].

Lemma weigh_put w x (S : {set X}) : weigh w (x |: S) = put (weigh w S) x (w x).
Proof. by apply/ffunP=> y; rewrite !ffunE in_setU1; case: eqP => [->|]. Qed.

Lemma weigh_absent w x (S : {set X}) : x \notin S -> weigh w S x = None.
Proof. by rewrite ffunE => /negbTE ->. Qed.

Variable O : finType.
Implicit Types (M : wdata -> O -> R).

(* Every value of M is a law. *)
Definition mechanism M := forall D, is_law (M D).

(* M has the profile Eplus in the direction plus: the weighted record (w, x) costs at most the factor Eplus w x when it goes. *)
Definition pdp_plus M (Eplus : R -> X -> R) :=
  forall (D : wdata) x w, D x = None -> 1 <= w -> within (Eplus w x) (M (put D x w)) (M D).

Definition pdp_minus M (Eminus : R -> X -> R) :=
  forall (D : wdata) x w, D x = None -> 1 <= w -> within (Eminus w x) (M D) (M (put D x w)).

(* Personalized differential privacy: one profile for both directions. *)
Definition pdp M (E : R -> X -> R) := pdp_plus M E /\ pdp_minus M E.

End Data.
