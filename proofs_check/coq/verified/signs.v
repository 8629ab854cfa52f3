(* Signs read off sums, products and enclosures; and that a term is defined on a box. *)
From Coq Require Import Reals ZArith List Bool PeanoNat Lra Lia.
From PDPVerified Require Import terms enclosures.
Import ListNotations.
Open Scope R_scope.

Definition both (x y z : nat) : nat := match x, y with O, _ | _, O => 0%nat | _, _ => z end.
Definition best (x y : nat) : nat := match x with 2%nat => 2%nat | O => y | _ => match y with O => x | _ => y end end.

Lemma best_correct x y r : has_sign x r -> has_sign y r -> has_sign (best x y) r.
Proof. destruct x as [|[|[|x]]], y as [|[|y]]; simpl; tauto. Qed.

Definition range_sign (r : range) : nat :=
  if rlt (0%Z, 1%positive) (low r) then 2%nat else
  if rle (0%Z, 1%positive) (low r) then (if opened r then 2%nat else 1%nat) else 0%nat.

Definition whole_sign (p : Z) : nat := match p with Zpos _ => 2%nat | Z0 => 1%nat | Zneg _ => 0%nat end.

Section Box.
Variable prec : F.precision.
Variable b : box.
Variable hulls : list I.type.
(* Terms that are known to be > 0. *)
Variable known : list expr.

(* The better of what was found and of what is known or enclosed. *)
Definition strengthen (found : nat) (t : expr) : nat :=
  match found with 2%nat => 2%nat | _ => if existsb (expr_eqb t) known then 2%nat else best found (sign_of (enclose prec hulls t)) end.

Definition sign_add (s s' : nat) : nat := both s s' (best s s').

Definition sign_mul (same : bool) (s s' : nat) : nat :=
  if same then match s with 2%nat => 2%nat | _ => 1%nat end else both s s' (match s with 2%nat => s' | _ => 1%nat end).

Fixpoint sign (t : expr) : nat :=
  strengthen
    match t with
    | Num p _ => whole_sign p
    | Var i => match nth_error b i with Some r => range_sign r | None => 0%nat end
    | Add x y => sign_add (sign x) (sign y)
    | Mul x y => sign_mul (expr_eqb x y) (sign x) (sign y)
    | Inv x => match sign x with O => 0%nat | _ => 2%nat end
    | Pow x n => match sign x with 2%nat => 2%nat | O => if Nat.even n then 1%nat else 0%nat | _ => 1%nat end
    | Exp _ => 2%nat
    | Ln _ => 0%nat
    | Sqrt x => match sign x with 2%nat => 2%nat | _ => 1%nat end
    end t.

Variable e : env.
Hypothesis h_inside : inside b e.
Hypothesis h_hulls : hulls = map (hull prec) b.
Hypothesis h_known : Forall (fun t => 0 < eval e t) known.

Lemma range_sign_correct r x : in_range r x -> has_sign (range_sign r) x.
Proof.
intros [l _]; unfold range_sign.
assert (z : rat (0%Z, 1%positive) = 0) by reflexivity.
destruct (rlt _ _) eqn:h; [apply rlt_lt in h; rewrite z in h; simpl; destruct (opened r); lra|].
destruct (rle _ _) eqn:k; [apply rle_le in k; rewrite z in k; destruct (opened r); simpl; lra|exact Logic.I].
Qed.

Lemma whole_sign_correct p q : has_sign (whole_sign p) (ratio p q).
Proof.
rewrite ratio_div; assert (0 < IZR (Zpos q)) by (apply IZR_lt; reflexivity).
destruct p; simpl; [|apply Rdiv_lt_0_compat; [apply IZR_lt; reflexivity|assumption]|exact Logic.I].
unfold Rdiv; rewrite Rmult_0_l; apply Rle_refl.
Qed.

Lemma strengthen_correct f t : has_sign f (eval e t) -> defined e t -> has_sign (strengthen f t) (eval e t).
Proof.
intros h d; unfold strengthen.
assert (k : has_sign (if existsb (expr_eqb t) known then 2%nat else best f (sign_of (enclose prec hulls t))) (eval e t)).
{ destruct (existsb _ known) eqn:m.
  - apply existsb_exists in m as (a & i & q); apply expr_eqb_eq in q; subst a.
    rewrite Forall_forall in h_known; apply (h_known t i).
  - apply best_correct; [exact h|]. apply sign_of_correct, enclose_correct; [|exact d].
    rewrite h_hulls; apply hulls_correct, h_inside. }
destruct f as [|[|[|f]]]; assumption.
Qed.

Opaque strengthen.

Lemma sign_correct t : defined e t -> has_sign (sign t) (eval e t).
Proof.
induction t; intros d; cbn [sign]; apply strengthen_correct; try exact d; cbn [defined] in d; cbn [eval].
- apply whole_sign_correct.
- destruct (nth_error b i) as [r|] eqn:n; [|exact Logic.I].
  apply range_sign_correct; apply (proj1 (inside_nth b e) h_inside i r n).
- specialize (IHt1 (proj1 d)); specialize (IHt2 (proj2 d)); revert IHt1 IHt2; generalize (sign t1), (sign t2).
  intros [|[|[|s]]] [|[|[|s']]]; simpl; intros; try exact Logic.I; lra.
- specialize (IHt1 (proj1 d)); specialize (IHt2 (proj2 d)); revert IHt1 IHt2; unfold sign_mul.
  destruct (expr_eqb t1 t2) eqn:q.
  + apply expr_eqb_eq in q; subst t2; generalize (sign t1); intros [|[|[|s]]]; simpl; intros; try apply Rle_0_sqr; apply Rmult_lt_0_compat; assumption.
  + assert (z : forall x y, 0 <= x -> 0 <= y -> 0 <= x * y) by (intros; apply Rmult_le_pos; assumption).
    assert (p : forall x y, 0 < x -> 0 < y -> 0 < x * y) by (intros; apply Rmult_lt_0_compat; assumption).
    generalize (sign t1), (sign t2); intros [|[|[|s]]] [|[|[|s']]]; simpl; intros; try exact Logic.I; try (apply p; lra); apply z; lra.
- specialize (IHt (proj1 d)); destruct d as [d n]; revert IHt; generalize (sign t).
  intros [|[|s]]; simpl; intros; try exact Logic.I; apply Rinv_0_lt_compat; lra.
- specialize (IHt d); revert IHt; generalize (sign t); intros [|[|[|s]]]; simpl; intros h.
  + destruct (Nat.even n) eqn:ev; [|exact Logic.I]. apply Nat.even_spec in ev as [m ->].
    replace (2 * m)%nat with (m + m)%nat by lia; simpl; rewrite pow_add; apply Rle_0_sqr.
  + apply pow_le, h.
  + apply pow_lt, h.
  + apply pow_le; lra.
- apply exp_pos.
- exact Logic.I.
- specialize (IHt (proj1 d)); revert IHt; generalize (sign t); intros [|[|[|s]]]; simpl; intros h; try apply sqrt_pos; apply sqrt_lt_R0, h.
Qed.

Opaque sign.

(* Every part of the term is defined: divisors have a sign, logarithms are of what is > 0, roots of what is >= 0. *)
Fixpoint shown (t : expr) : bool :=
  match t with
  | Num _ _ | Var _ => true
  | Add x y | Mul x y => shown x && shown y
  | Pow x _ | Exp x => shown x
  | Inv x => shown x && (Nat.eqb (sign x) 2 || Nat.eqb (sign (Mul (Num (-1) 1) x)) 2)
  | Ln x => shown x && Nat.eqb (sign x) 2
  | Sqrt x => shown x && negb (Nat.eqb (sign x) 0)
  end.

Lemma shown_defined t : shown t = true -> defined e t.
Proof.
induction t; simpl; intros h; rewrite ?andb_true_iff, ?orb_true_iff in h; try tauto.
- destruct h as [h s]; split; [tauto|]; destruct s as [s|s]; apply Nat.eqb_eq in s.
  + pose proof (sign_correct t (IHt h)) as k; rewrite s in k; simpl in k; lra.
  + assert (d : defined e (Mul (Num (-1) 1) t)) by (simpl; tauto).
    pose proof (sign_correct _ d) as k; rewrite s in k; simpl in k; lra.
- destruct h as [h s]; split; [tauto|]; apply Nat.eqb_eq in s.
  pose proof (sign_correct t (IHt h)) as k; rewrite s in k; exact k.
- destruct h as [h s]; split; [tauto|].
  pose proof (sign_correct t (IHt h)) as k; destruct (sign t) as [|[|[|n]]]; simpl in *; try discriminate; lra.
Qed.

(* Roots of what is > 0 only: there is a derivative. *)
Fixpoint shown_smooth (t : expr) : bool :=
  match t with
  | Num _ _ | Var _ => true
  | Add x y | Mul x y => shown_smooth x && shown_smooth y
  | Inv x | Pow x _ | Exp x | Ln x => shown_smooth x
  | Sqrt x => shown_smooth x && Nat.eqb (sign x) 2
  end.

Lemma shown_smooth_correct t : defined e t -> shown_smooth t = true -> smooth e t.
Proof.
induction t; simpl; intros d h; rewrite ?andb_true_iff in h; try tauto.
destruct h as [h s]; apply Nat.eqb_eq in s.
pose proof (sign_correct t (proj1 d)) as k; rewrite s in k; split; tauto.
Qed.
End Box.
Transparent strengthen sign.
