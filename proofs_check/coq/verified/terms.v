(* Terms, what they mean as real numbers, where they are defined, and their derivatives. *)
From Coq Require Import Reals ZArith List Bool PeanoNat Lra.
From Coquelicot Require Import Coquelicot.
Import ListNotations.
Open Scope R_scope.

(* A number p/q, a variable by its place, and the operations. Other powers are written with these. *)
Inductive expr : Set :=
| Num (p : Z) (q : positive)
| Var (i : nat)
| Add (a b : expr)
| Mul (a b : expr)
| Inv (a : expr)
| Pow (a : expr) (n : nat)
| Exp (a : expr)
| Ln (a : expr)
| Sqrt (a : expr).

Definition ratio (p : Z) (q : positive) : R := match q with xH => IZR p | _ => IZR p / IZR (Zpos q) end.

Definition env := nat -> R.

(* The value. Coq's functions are total: what 1/0 is does not matter, because it is said besides where a term is defined. *)
Fixpoint eval (e : env) (t : expr) : R :=
  match t with
  | Num p q => ratio p q
  | Var i => e i
  | Add a b => eval e a + eval e b
  | Mul a b => eval e a * eval e b
  | Inv a => / eval e a
  | Pow a n => eval e a ^ n
  | Exp a => exp (eval e a)
  | Ln a => ln (eval e a)
  | Sqrt a => sqrt (eval e a)
  end.

(* Every part of the term is a real number. *)
Fixpoint defined (e : env) (t : expr) : Prop :=
  match t with
  | Num _ _ | Var _ => True
  | Add a b | Mul a b => defined e a /\ defined e b
  | Inv a => defined e a /\ eval e a <> 0
  | Pow a _ | Exp a => defined e a
  | Ln a => defined e a /\ 0 < eval e a
  | Sqrt a => defined e a /\ 0 <= eval e a
  end.

Lemma ratio_div p q : ratio p q = IZR p / IZR (Zpos q).
Proof. destruct q; unfold ratio; try reflexivity; field. Qed.

Fixpoint expr_eqb (s t : expr) : bool :=
  match s, t with
  | Num p q, Num p' q' => Z.eqb p p' && Pos.eqb q q'
  | Var i, Var j => Nat.eqb i j
  | Add a b, Add a' b' | Mul a b, Mul a' b' => expr_eqb a a' && expr_eqb b b'
  | Inv a, Inv a' | Exp a, Exp a' | Ln a, Ln a' | Sqrt a, Sqrt a' => expr_eqb a a'
  | Pow a n, Pow a' n' => expr_eqb a a' && Nat.eqb n n'
  | _, _ => false
  end.

Lemma expr_eqb_eq s : forall t, expr_eqb s t = true -> s = t.
Proof.
induction s; intros []; simpl; intros h; try discriminate; rewrite ?andb_true_iff in h.
- destruct h as [h k]; apply Z.eqb_eq in h; apply Pos.eqb_eq in k; congruence.
- apply Nat.eqb_eq in h; congruence.
- destruct h as [h k]; rewrite (IHs1 _ h), (IHs2 _ k); reflexivity.
- destruct h as [h k]; rewrite (IHs1 _ h), (IHs2 _ k); reflexivity.
- rewrite (IHs _ h); reflexivity.
- destruct h as [h k]; rewrite (IHs _ h); apply Nat.eqb_eq in k; congruence.
- rewrite (IHs _ h); reflexivity.
- rewrite (IHs _ h); reflexivity.
- rewrite (IHs _ h); reflexivity.
Qed.

(* Another value for one variable. *)
Definition upd (e : env) (v : nat) (x : R) : env := fun i => if Nat.eqb i v then x else e i.

Lemma eval_ext e e' t : (forall i, e i = e' i) -> eval e t = eval e' t.
Proof. intros h; induction t; simpl; rewrite ?IHt, ?IHt1, ?IHt2; auto. Qed.

Lemma defined_ext e e' t : (forall i, e i = e' i) -> defined e t -> defined e' t.
Proof. intros h; induction t; simpl; rewrite <- ?(eval_ext e e' _ h); tauto. Qed.

Lemma upd_same e v i : upd e v (e v) i = e i.
Proof. unfold upd; destruct (Nat.eqb_spec i v); congruence. Qed.

(* A term in place of a variable. *)
Fixpoint subst (v : nat) (s t : expr) : expr :=
  match t with
  | Num _ _ => t
  | Var i => if Nat.eqb i v then s else t
  | Add a b => Add (subst v s a) (subst v s b)
  | Mul a b => Mul (subst v s a) (subst v s b)
  | Inv a => Inv (subst v s a)
  | Pow a n => Pow (subst v s a) n
  | Exp a => Exp (subst v s a)
  | Ln a => Ln (subst v s a)
  | Sqrt a => Sqrt (subst v s a)
  end.

Lemma eval_subst e v s t : eval e (subst v s t) = eval (upd e v (eval e s)) t.
Proof. induction t; simpl; try congruence. unfold upd; destruct (Nat.eqb i v); reflexivity. Qed.

Lemma defined_subst e v s t : defined e s -> defined (upd e v (eval e s)) t -> defined e (subst v s t).
Proof. intros d; induction t; simpl; rewrite ?eval_subst; try tauto. destruct (Nat.eqb i v); simpl; tauto. Qed.

(* The derivative in one variable, and where it is one: roots of what is > 0 only. *)
Fixpoint diff (v : nat) (t : expr) : expr :=
  match t with
  | Num _ _ => Num 0 1
  | Var i => Num (if Nat.eqb i v then 1 else 0) 1
  | Add a b => Add (diff v a) (diff v b)
  | Mul a b => Add (Mul (diff v a) b) (Mul a (diff v b))
  | Inv a => Mul (Num (-1) 1) (Mul (diff v a) (Pow (Inv a) 2))
  | Pow a n => match n with O => Num 0 1 | S m => Mul (Num (Z.of_nat n) 1) (Mul (diff v a) (Pow a m)) end
  | Exp a => Mul (diff v a) (Exp a)
  | Ln a => Mul (diff v a) (Inv a)
  | Sqrt a => Mul (diff v a) (Inv (Mul (Num 2 1) (Sqrt a)))
  end.

Fixpoint smooth (e : env) (t : expr) : Prop :=
  match t with
  | Num _ _ | Var _ => True
  | Add a b | Mul a b => smooth e a /\ smooth e b
  | Inv a | Pow a _ | Exp a | Ln a => smooth e a
  | Sqrt a => smooth e a /\ 0 < eval e a
  end.

Lemma defined_diff e v t : defined e t -> smooth e t -> defined e (diff v t).
Proof.
induction t; simpl; try tauto.
- intros d s; destruct n; simpl; tauto.
- intros [d h] s; repeat split; try tauto; lra.
- intros [d h] [s k]; repeat split; try tauto. pose proof (sqrt_lt_R0 _ k); lra.
Qed.

Theorem derivative e v t x :
  defined (upd e v x) t -> smooth (upd e v x) t ->
  is_derive (fun y => eval (upd e v y) t) x (eval (upd e v x) (diff v t)).
Proof.
induction t; simpl; intros d s.
- apply @is_derive_const.
- unfold upd at 1; destruct (Nat.eqb i v); [apply @is_derive_id | apply @is_derive_const].
- apply @is_derive_plus; tauto.
- replace (eval (upd e v x) (diff v t1) * eval (upd e v x) t2 + eval (upd e v x) t1 * eval (upd e v x) (diff v t2))
    with (plus (mult (eval (upd e v x) (diff v t1)) (eval (upd e v x) t2)) (mult (eval (upd e v x) t1) (eval (upd e v x) (diff v t2)))) by reflexivity.
  apply @is_derive_mult; [tauto | tauto | intros; apply Rmult_comm].
- destruct d as [d n]; evar_last; [apply (is_derive_inv (fun y => eval (upd e v y) t)); [apply IHt; assumption | exact n] |]. simpl; field; exact n.
- destruct n as [|m]; simpl; [apply @is_derive_const|].
  evar_last; [apply (is_derive_pow (fun y => eval (upd e v y) t) (S m)); apply IHt; assumption|].
  change (eval (upd e v x) t * eval (upd e v x) t ^ m) with (eval (upd e v x) t ^ S m).
  rewrite (INR_IZR_INZ (S m)); simpl Init.Nat.pred; unfold ratio; change (Z.of_nat (S m)) with (Zpos (Pos.of_succ_nat m)); ring.
- evar_last; [apply (is_derive_comp exp (fun y => eval (upd e v y) t)); [apply is_derive_exp | apply IHt; assumption] |]. reflexivity.
- destruct d as [d p]; evar_last; [apply (is_derive_comp ln (fun y => eval (upd e v y) t)); [apply is_derive_ln; exact p | apply IHt; assumption] |].
  reflexivity.
- destruct d as [d p], s as [s h]; evar_last; [apply (is_derive_sqrt (fun y => eval (upd e v y) t)); [apply IHt; assumption | exact h] |].
  reflexivity.
Qed.
