(* Ranges of variables, boxes of them, and enclosures of terms by the interval arithmetic of coq-interval. *)
From Coq Require Import Reals ZArith List Bool PeanoNat Lra Lia.
From Interval Require Import Real.Xreal Interval.Interval Interval.Float_full Float.Specific_ops Float.Specific_stdz Float.Basic.
From PDPVerified Require Import terms.
Import ListNotations.
Open Scope R_scope.

Module F := SpecificFloat StdZRadix2.
Module I := FloatIntervalFull F.

(* A range [low, high], (low, high] if it is open, or without an upper end. *)
Record range := Range { low : Z * positive; opened : bool; high : option (Z * positive) }.
Definition rat (q : Z * positive) : R := ratio (fst q) (snd q).
Definition in_range (r : range) (x : R) : Prop :=
  (if opened r then rat (low r) < x else rat (low r) <= x) /\ match high r with None => True | Some h => x <= rat h end.

(* A box gives the variable i its i-th range. *)
Definition box := list range.
Fixpoint inside_from (i : nat) (b : box) (e : env) : Prop :=
  match b with [] => True | r :: rest => in_range r (e i) /\ inside_from (S i) rest e end.
Definition inside : box -> env -> Prop := inside_from 0.

Lemma inside_from_nth b : forall k e, inside_from k b e <-> (forall i r, nth_error b i = Some r -> in_range r (e (k + i)%nat)).
Proof.
induction b as [|r b IH]; intros k e; simpl; split; intros h.
- intros [|i] s; discriminate.
- exact I.
- intros [|i] s; simpl; intros t; [injection t as <-; rewrite Nat.add_0_r; apply h|].
  rewrite <- plus_n_Sm; apply (proj1 (IH (S k) e) (proj2 h) i s t).
- split; [rewrite <- (Nat.add_0_r k); apply (h 0%nat); reflexivity|].
  apply IH; intros i s t; simpl; rewrite plus_n_Sm; apply (h (S i)); exact t.
Qed.

Lemma inside_nth b e : inside b e <-> (forall i r, nth_error b i = Some r -> in_range r (e i)).
Proof. apply inside_from_nth. Qed.

(* Rational numbers compared. *)
Definition rle (a b : Z * positive) : bool := Z.leb (fst a * Zpos (snd b)) (fst b * Zpos (snd a)).
Definition rlt (a b : Z * positive) : bool := Z.ltb (fst a * Zpos (snd b)) (fst b * Zpos (snd a)).

Lemma rle_le a b : rle a b = true -> rat a <= rat b.
Proof.
destruct a as [p q], b as [p' q']; unfold rle, rat; simpl; intros h; apply Z.leb_le, IZR_le in h.
rewrite !mult_IZR in h; rewrite !ratio_div.
assert (0 < IZR (Zpos q)) by (apply IZR_lt; reflexivity); assert (0 < IZR (Zpos q')) by (apply IZR_lt; reflexivity).
apply (Rmult_le_reg_r (IZR (Zpos q) * IZR (Zpos q'))); [apply Rmult_lt_0_compat; assumption|].
replace (IZR p / _ * _) with (IZR p * IZR (Zpos q')) by (field; lra).
replace (IZR p' / _ * _) with (IZR p' * IZR (Zpos q)) by (field; lra); exact h.
Qed.

Lemma rlt_lt a b : rlt a b = true -> rat a < rat b.
Proof.
destruct a as [p q], b as [p' q']; unfold rlt, rat; simpl; intros h; apply Z.ltb_lt, IZR_lt in h.
rewrite !mult_IZR in h; rewrite !ratio_div.
assert (0 < IZR (Zpos q)) by (apply IZR_lt; reflexivity); assert (0 < IZR (Zpos q')) by (apply IZR_lt; reflexivity).
apply (Rmult_lt_reg_r (IZR (Zpos q) * IZR (Zpos q'))); [apply Rmult_lt_0_compat; assumption|].
replace (IZR p / _ * _) with (IZR p * IZR (Zpos q')) by (field; lra).
replace (IZR p' / _ * _) with (IZR p' * IZR (Zpos q)) by (field; lra); exact h.
Qed.

Section Precision.
Variable prec : F.precision.

Definition number (p : Z) (q : positive) : I.type :=
  match q with xH => I.fromZ prec p | _ => I.div prec (I.fromZ prec p) (I.fromZ prec (Zpos q)) end.

Notation contained x i := (contains (I.convert i) (Xreal x)).

Lemma number_correct p q : contained (ratio p q) (number p q).
Proof.
assert (frac : contained (IZR p / IZR (Zpos q)) (I.div prec (I.fromZ prec p) (I.fromZ prec (Zpos q)))).
{ pose proof (I.div_correct prec _ _ _ _ (I.fromZ_correct prec p) (I.fromZ_correct prec (Zpos q))) as h.
  unfold Xdiv, Xbind2, Xdiv' in h; destruct (is_zero_spec (IZR (Zpos q))) as [z|z]; [|exact h].
  apply eq_IZR in z; discriminate. }
unfold ratio, number; destruct q; try exact frac; apply I.fromZ_correct.
Qed.

(* All numbers of a range. *)
Definition hull (r : range) : I.type :=
  let from := I.upper_extent (number (fst (low r)) (snd (low r))) in
  match high r with None => from | Some h => I.meet from (I.lower_extent (number (fst h) (snd h))) end.

Lemma hull_correct r x : in_range r x -> contained x (hull r).
Proof.
intros [l h]; unfold hull.
assert (from : contained x (I.upper_extent (number (fst (low r)) (snd (low r))))).
{ apply (I.upper_extent_correct _ _ (rat (low r))); [apply number_correct|destruct (opened r); lra]. }
destruct (high r) as [b|]; [|exact from].
apply I.meet_correct; [exact from|].
apply (I.lower_extent_correct _ _ (rat b)); [apply number_correct|exact h].
Qed.

(* An enclosure of the value wherever the term is defined. *)
Fixpoint enclose (b : list I.type) (t : expr) : I.type :=
  match t with
  | Num p q => number p q
  | Var i => nth i b I.nai
  | Add x y => I.add prec (enclose b x) (enclose b y)
  | Mul x y => if expr_eqb x y then I.sqr prec (enclose b x) else I.mul prec (enclose b x) (enclose b y)
  | Inv x => I.invnz prec (enclose b x)
  | Pow x n => I.power_int prec (enclose b x) (Z.of_nat n)
  | Exp x => I.exp prec (enclose b x)
  | Ln x => I.ln prec (enclose b x)
  | Sqrt x => I.sqrt prec (enclose b x)
  end.

Lemma enclose_correct b e t : (forall i, contained (e i) (nth i b I.nai)) -> defined e t -> contained (eval e t) (enclose b t).
Proof.
intros h; induction t; simpl; intros d.
- apply number_correct.
- apply h.
- apply (I.add_correct prec _ _ _ _ (IHt1 (proj1 d)) (IHt2 (proj2 d))).
- destruct (expr_eqb t1 t2) eqn:same.
  + apply expr_eqb_eq in same; subst t2. pose proof (I.sqr_correct prec _ _ (IHt1 (proj1 d))) as k.
    unfold Xsqr, Xbind, Rsqr in k; exact k.
  + apply (I.mul_correct prec _ _ _ _ (IHt1 (proj1 d)) (IHt2 (proj2 d))).
- destruct d as [d n].
  assert (k : Xreal (eval e t) <> Xreal 0) by congruence.
  pose proof (I.invnz_correct prec _ _ k (IHt d)) as c; unfold Xbind, Xinv' in c.
  destruct (is_zero_spec (eval e t)); [contradiction|exact c].
- pose proof (I.power_int_correct prec (Z.of_nat n) _ _ (IHt d)) as k.
  unfold Xpower_int, Xbind, Xpower_int' in k; destruct n as [|m]; [exact k|].
  simpl in k; rewrite SuccNat2Pos.id_succ in k; exact k.
- apply (I.exp_correct prec _ _ (IHt d)).
- destruct d as [d p]; pose proof (I.ln_correct prec _ _ (IHt d)) as k; unfold Xbind, Xln' in k.
  destruct (is_positive_spec (eval e t)); [exact k|lra].
- destruct d as [d p]; pose proof (I.sqrt_correct prec _ _ (IHt d)) as k; unfold Xbind, Xsqrt' in k; exact k.
Qed.

Lemma hulls_correct b e : inside b e -> forall i, contained (e i) (nth i (map hull b) I.nai).
Proof.
intros h i; rewrite inside_nth in h; destruct (nth_error b i) as [r|] eqn:found.
- rewrite (nth_error_nth _ _ I.nai (map_nth_error hull i b found)); apply hull_correct, h, found.
- rewrite nth_overflow; [rewrite I.nai_correct; exact Logic.I|].
  rewrite map_length; apply nth_error_None, found.
Qed.
End Precision.

(* 2, 1 or 0: the enclosure is > 0, >= 0, or tells neither. *)
Definition sign_of (i : I.type) : nat :=
  match I.sign_strict i with Xgt => 2%nat | _ => match I.sign_large i with Xgt | Xeq => 1%nat | _ => 0%nat end end.
Definition has_sign (s : nat) (x : R) : Prop := match s with O => True | 1%nat => 0 <= x | _ => 0 < x end.

Lemma sign_of_correct i x : contains (I.convert i) (Xreal x) -> has_sign (sign_of i) x.
Proof.
intros c; unfold sign_of.
pose proof (I.sign_strict_correct i) as s; pose proof (I.sign_large_correct i) as l.
destruct (I.sign_strict i); try (apply (s (Xreal x) c));
  destruct (I.sign_large i); simpl; try exact Logic.I;
  try (pose proof (l _ c) as k; injection k as ->; apply Rle_refl); try (apply (l _ c)).
Qed.
