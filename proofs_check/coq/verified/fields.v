(* Equality of terms as fractions of polynomials with rational coefficients, in variables and in what no polynomial is made of, by the
   normal forms of Coq's own "field"; squares of roots are what they are roots of. *)
From Coq Require Import Reals ZArith QArith Qreals List Bool PeanoNat NArith Lra.
From Coq Require Import Ring_polynom Ring_theory Field_theory RealField BinList InitialRing.
From PDPVerified Require Import terms.
Import ListNotations.
Open Scope R_scope.

Definition qadd a b := Qred (Qplus a b).
Definition qmul a b := Qred (Qmult a b).
Definition qsub a b := Qred (Qminus a b).
Definition qdiv (a b : Q) : Q * Q := if Qeq_bool b 0 then (0%Q, a) else (Qred (Qdiv a b), 0%Q).

Lemma Q2R_red q : Q2R (Qred q) = Q2R q.
Proof. apply Qeq_eqR, Qred_correct. Qed.

Lemma rational_morph : ring_morph 0 1 Rplus Rmult Rminus Ropp eq 0%Q 1%Q qadd qmul qsub Qopp Qeq_bool Q2R.
Proof.
constructor; intros; unfold qadd, qmul, qsub; rewrite ?Q2R_red.
- unfold Q2R; simpl; field.
- unfold Q2R; simpl; field.
- apply Q2R_plus.
- apply Q2R_minus.
- apply Q2R_mult.
- apply Q2R_opp.
- apply Qeq_eqR, Qeq_bool_iff; assumption.
Qed.

Lemma rational_div : div_theory eq qadd qmul Q2R qdiv.
Proof.
constructor; intros a b; unfold qdiv; destruct (Qeq_bool b 0) eqn:h; unfold qadd, qmul; simpl fst; simpl snd.
- rewrite Q2R_red, Q2R_plus, Q2R_red, Q2R_mult; unfold Q2R at 3; simpl; ring.
- apply Qeq_bool_neq in h; rewrite Q2R_red, Q2R_plus, Q2R_red, Q2R_mult, Q2R_red, Q2R_div by exact h.
  assert (z : Q2R b <> 0) by (intros z; apply h, eqR_Qeq; rewrite z; unfold Q2R; simpl; ring).
  replace (Q2R 0) with 0 by (unfold Q2R; simpl; ring). field; exact z.
Qed.

Definition real_equivalence : Equivalence (@eq R) := eq_equivalence.
Lemma real_ext : ring_eq_ext Rplus Rmult Ropp (@eq R).
Proof. constructor; repeat intro; subst; reflexivity. Qed.
Lemma inverse_ext : forall p q : R, p = q -> / p = / q.
Proof. intros; subst; reflexivity. Qed.
Definition real_field := F2AF real_equivalence real_ext Rfield.

Notation norm_fraction := (Fnorm 0%Q 1%Q qadd qmul qsub Qopp Qeq_bool).
Notation value := (FEeval 0 1 Rplus Rmult Rminus Ropp Rdiv Rinv Q2R N.to_nat pow).
Notation pvalue := (PEeval 0 1 Rplus Rmult Rminus Ropp Q2R N.to_nat pow).
Notation nonzero := (PCond 0 1 Rplus Rmult Rminus Ropp eq Q2R N.to_nat pow).

(* What no polynomial is made of, each once. *)
Definition insert (t : expr) (l : list expr) := if existsb (expr_eqb t) l then l else l ++ [t].
Fixpoint atoms (t : expr) (l : list expr) : list expr :=
  match t with
  | Num _ _ => l
  | Add a b | Mul a b => atoms b (atoms a l)
  | Inv a | Pow a _ => atoms a l
  | Var _ | Exp _ | Ln _ | Sqrt _ => insert t l
  end.

Fixpoint index (t : expr) (l : list expr) : positive :=
  match l with [] => 1%positive | a :: r => if expr_eqb a t then 1%positive else Pos.succ (index t r) end.

Fixpoint covered (l : list expr) (t : expr) : bool :=
  match t with
  | Num _ _ => true
  | Add a b | Mul a b => covered l a && covered l b
  | Inv a | Pow a _ => covered l a
  | Var _ | Exp _ | Ln _ | Sqrt _ => existsb (fun a => expr_eqb a t) l
  end.

Fixpoint fraction (l : list expr) (t : expr) : FExpr Q :=
  match t with
  | Num p q => FEc (p # q)%Q
  | Add a b => FEadd (fraction l a) (fraction l b)
  | Mul a b => FEmul (fraction l a) (fraction l b)
  | Inv a => FEinv (fraction l a)
  | Pow a n => FEpow (fraction l a) (N.of_nat n)
  | Var _ | Exp _ | Ln _ | Sqrt _ => FEX Q (index t l)
  end.

Fixpoint polynomial (l : list expr) (t : expr) : option (PExpr Q) :=
  match t with
  | Num p q => Some (PEc (p # q)%Q)
  | Add a b => match polynomial l a, polynomial l b with Some x, Some y => Some (PEadd x y) | _, _ => None end
  | Mul a b => match polynomial l a, polynomial l b with Some x, Some y => Some (PEmul x y) | _, _ => None end
  | Inv _ => None
  | Pow a n => match polynomial l a with Some x => Some (PEpow x (N.of_nat n)) | None => None end
  | Var _ | Exp _ | Ln _ | Sqrt _ => if existsb (fun a => expr_eqb a t) l then Some (PEX Q (index t l)) else None
  end.

Fixpoint roots (l : list expr) (left : list expr) : list (PExpr Q * PExpr Q) :=
  match left with
  | [] => []
  | Sqrt a :: rest => match polynomial l a with
      | Some p => (PEpow (PEX Q (index (Sqrt a) l)) 2, p) :: roots l rest
      | None => roots l rest end
  | _ :: rest => roots l rest
  end.

(* Equal wherever both are defined. *)
Definition equal (s t : expr) : bool :=
  let l := atoms t (atoms s []) in
  covered l s && covered l t &&
  (let x := norm_fraction (fraction l s) in
   let y := norm_fraction (fraction l t) in
   let rules := mk_monpol_list 0%Q 1%Q qadd qmul qsub Qopp Qeq_bool qdiv (roots l l) in
   let normal := norm_subst 0%Q 1%Q qadd qmul qsub Qopp Qeq_bool qdiv 100 rules in
   Peq Qeq_bool (normal (PEmul (num x) (denum y))) (normal (PEmul (num y) (denum x)))).

Lemma nth_succ p x (l : list R) : BinList.nth 0 (Pos.succ p) (x :: l) = BinList.nth 0 p l.
Proof.
pose proof (nth_jump 0 (Pos.succ p) (0 :: x :: l)) as h; simpl tl in h; rewrite h.
rewrite jump_succ; change (jump 1 ?m) with (tl m); rewrite jump_tl; simpl tl; rewrite <- (nth_jump 0 p (x :: l)); reflexivity.
Qed.

Section Values.
Variable e : env.

Lemma index_correct t l : existsb (fun a => expr_eqb a t) l = true -> BinList.nth 0 (index t l) (map (eval e) l) = eval e t.
Proof.
induction l as [|a l IH]; simpl; [discriminate|].
destruct (expr_eqb a t) eqn:h; [intros _; apply expr_eqb_eq in h; subst; reflexivity|].
simpl; intros m; rewrite nth_succ; apply IH, m.
Qed.

Lemma Q2R_ratio p q : Q2R (p # q) = ratio p q.
Proof. rewrite ratio_div; reflexivity. Qed.

Lemma fraction_correct l t : covered l t = true -> defined e t ->
  value (map (eval e) l) (fraction l t) = eval e t /\ nonzero (map (eval e) l) (condition (norm_fraction (fraction l t))).
Proof.
assert (atom : forall t, existsb (fun a => expr_eqb a t) l = true ->
  value (map (eval e) l) (FEX Q (index t l)) = eval e t /\ nonzero (map (eval e) l) (condition (norm_fraction (FEX Q (index t l))))).
{ intros u h; simpl; split; [apply index_correct, h | exact I]. }
induction t; intros c d; simpl in c; try (apply (atom _ c)); simpl in d; rewrite ?andb_true_iff in c.
- split; [apply Q2R_ratio | exact I].
- destruct (IHt1 (proj1 c) (proj1 d)) as [v1 n1], (IHt2 (proj2 c) (proj2 d)) as [v2 n2]; split; simpl; [congruence|].
  apply (PCond_app _ _ _ _ _ _ _ _ _ _ _); tauto.
- destruct (IHt1 (proj1 c) (proj1 d)) as [v1 n1], (IHt2 (proj2 c) (proj2 d)) as [v2 n2]; split; simpl; [congruence|].
  apply (PCond_app _ _ _ _ _ _ _ _ _ _ _); tauto.
- destruct (IHt c (proj1 d)) as [v n]; split; [simpl; congruence|].
  change (condition (norm_fraction (fraction l (Inv t)))) with
    (num (norm_fraction (fraction l t)) :: condition (norm_fraction (fraction l t))).
  apply PCond_cons; split; [|exact n]. intros z.
  pose proof (Fnorm_FEeval_PEeval real_equivalence real_ext inverse_ext real_field rational_morph R_power_theory _ _ n) as w.
  rewrite z in w; apply (proj2 d); rewrite <- v, w; unfold Rdiv; ring.
- destruct (IHt c d) as [v n']; split; [|exact n'].
  simpl; rewrite v, Nat2N.id; reflexivity.
Qed.

Lemma polynomial_correct l t p : polynomial l t = Some p -> pvalue (map (eval e) l) p = eval e t.
Proof.
revert p; induction t; simpl; intros p'.
- intros h; injection h as <-; apply Q2R_ratio.
- destruct (existsb _ l) eqn:m; [|discriminate]; intros h; injection h as <-; exact (index_correct _ l m).
- destruct (polynomial l t1), (polynomial l t2); try discriminate; intros h; injection h as <-; simpl.
  rewrite (IHt1 _ eq_refl), (IHt2 _ eq_refl); reflexivity.
- destruct (polynomial l t1), (polynomial l t2); try discriminate; intros h; injection h as <-; simpl.
  rewrite (IHt1 _ eq_refl), (IHt2 _ eq_refl); reflexivity.
- discriminate.
- destruct (polynomial l t); try discriminate; intros h; injection h as <-; simpl.
  rewrite (IHt _ eq_refl), Nat2N.id; reflexivity.
- destruct (existsb _ l) eqn:m; [|discriminate]; intros h; injection h as <-; exact (index_correct _ l m).
- destruct (existsb _ l) eqn:m; [|discriminate]; intros h; injection h as <-; exact (index_correct _ l m).
- destruct (existsb _ l) eqn:m; [|discriminate]; intros h; injection h as <-; exact (index_correct _ l m).
Qed.

Notation interpreted := (interp_PElist 0 1 Rplus Rmult Rminus Ropp eq Q2R N.to_nat pow).

Lemma interp_cons v a b r : pvalue v a = pvalue v b -> interpreted v r -> interpreted v ((a, b) :: r).
Proof. intros h k; destruct r; simpl; [exact h | split; [exact h | exact k]]. Qed.

Lemma roots_correct l left : (forall a, In a left -> In a l) -> Forall (defined e) left -> interpreted (map (eval e) l) (roots l left).
Proof.
induction left as [|a left IH]; intros sub d; [exact I|].
inversion d as [|? ? da dl]; subst.
assert (rest : interpreted (map (eval e) l) (roots l left)) by (apply IH; [intros; apply sub; right; assumption | exact dl]).
destruct a; simpl; try exact rest.
destruct (polynomial l a) as [p|] eqn:h; [|exact rest].
apply interp_cons; [|exact rest].
rewrite (polynomial_correct l a p h).
assert (m : existsb (fun x => expr_eqb x (Sqrt a)) l = true).
{ apply existsb_exists; exists (Sqrt a); split; [apply sub; left; reflexivity|].
  clear; generalize (Sqrt a); intros t; induction t; simpl; rewrite ?IHt, ?IHt1, ?IHt2, ?Z.eqb_refl, ?Pos.eqb_refl, ?Nat.eqb_refl; reflexivity. }
change (pvalue (map (eval e) l) (PEpow (PEX Q (index (Sqrt a) l)) 2)) with (BinList.nth 0 (index (Sqrt a) l) (map (eval e) l) ^ 2).
rewrite (index_correct _ l m); simpl; rewrite Rmult_1_r; apply sqrt_sqrt, da.
Qed.

Lemma insert_defined t l : defined e t -> Forall (defined e) l -> Forall (defined e) (insert t l).
Proof. intros d h; unfold insert; destruct (existsb _ l); [exact h|]. apply Forall_app; split; [exact h | constructor; [exact d | constructor]]. Qed.

Lemma atoms_defined t : forall l, defined e t -> Forall (defined e) l -> Forall (defined e) (atoms t l).
Proof.
induction t; simpl; intros l d h; try (apply insert_defined; assumption); try assumption; try (apply IHt; tauto).
- apply IHt2; [tauto | apply IHt1; tauto].
- apply IHt2; [tauto | apply IHt1; tauto].
Qed.

Theorem equal_correct s t : equal s t = true -> defined e s -> defined e t -> eval e s = eval e t.
Proof.
unfold equal; rewrite !andb_true_iff; intros [[cs ct] h] ds dt.
set (l := atoms t (atoms s [])) in *.
destruct (fraction_correct l s cs ds) as [vs ns], (fraction_correct l t ct dt) as [vt nt].
rewrite <- vs, <- vt.
eapply (Field_correct real_equivalence real_ext inverse_ext real_field rational_morph R_power_theory rational_div 100 (map (eval e) l) (roots l l));
  [|reflexivity|reflexivity|reflexivity|exact h|].
- apply roots_correct; [tauto|]. apply atoms_defined; [exact dt | apply atoms_defined; [exact ds | constructor]].
- apply (PCond_app _ _ _ _ _ _ _ _ _ _ _); split; assumption.
Qed.
End Values.
