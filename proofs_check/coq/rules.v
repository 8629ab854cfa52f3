(* Rules of the checker (proofs_check/kernel/rules.py) as theorems about Coq's real numbers. A goal is t >= 0, or t > 0, for all points of a
   box. The theorems rest on the axioms of these numbers and on nothing else: "make formal" prints them. *)
From Coq Require Import Reals Lra.
From Flocq Require Import Core.
From Coquelicot Require Import Coquelicot.
Open Scope R_scope.

(* "split": what holds on both parts of a range holds on the range. *)
Theorem split_range (range P : R -> Prop) c :
  (forall x, range x -> x <= c -> P x) -> (forall x, range x -> c <= x -> P x) -> forall x, range x -> P x.
Proof. intros below above x r; destruct (Rle_or_lt x c); [apply below | apply above]; try exact r; lra. Qed.

(* "scale": a term is >= 0 (> 0) if its product with a term > 0 is. *)
Theorem scale_le f t : 0 < f -> 0 <= f * t -> 0 <= t.
Proof. intros f0 ft; destruct (Rle_or_lt 0 t) as [h|h]; [exact h|]; pose proof (Rmult_lt_0_compat f (- t)); lra. Qed.

Theorem scale_lt f t : 0 < f -> 0 < f * t -> 0 < t.
Proof.
intros f0 ft; destruct (Rlt_or_le 0 t) as [h|h]; [exact h|].
assert (0 <= f * (- t)) by (apply Rmult_le_pos; lra); lra.
Qed.

(* "sum": a sum of terms >= 0 is >= 0, and > 0 if one of them is. *)
Theorem sum_le a b : 0 <= a -> 0 <= b -> 0 <= a + b.
Proof. lra. Qed.

Theorem sum_lt a b : 0 < a -> 0 <= b -> 0 < a + b.
Proof. lra. Qed.

(* "generalise": what holds for all y in a range that contains the value a holds for a. *)
Theorem instance (range P : R -> Prop) a : range a -> (forall y, range y -> P y) -> P a.
Proof. intros r all; exact (all a r). Qed.

(* "monotone", where the end of the range belongs to it: a function with a slope >= 0 (<= 0) is at least its value at the lower (upper) end. *)
Theorem rising f d a x : a <= x -> (forall t, a <= t <= x -> is_derive f t (d t)) -> (forall t, a <= t <= x -> 0 <= d t) -> f a <= f x.
Proof.
intros [ax| <-] df d0; [|apply Rle_refl].
destruct (MVT_cor2 f d a x ax) as (c & e & ac); [intros t ht; apply is_derive_Reals, df, ht|].
pose proof (Rmult_le_pos (d c) (x - a)) as h; specialize (d0 c); lra.
Qed.

Theorem falling f d b x : x <= b -> (forall t, x <= t <= b -> is_derive f t (d t)) -> (forall t, x <= t <= b -> 0 <= - d t) -> f b <= f x.
Proof.
intros [xb| <-] df d0; [|apply Rle_refl].
destruct (MVT_cor2 f d x b xb) as (c & e & ac); [intros t ht; apply is_derive_Reals, df, ht|].
pose proof (Rmult_le_pos (- d c) (b - x)) as h; specialize (d0 c); lra.
Qed.

(* "exp-tangent": exp(m) >= 1 + m. *)
Theorem exp_tangent m : 0 <= exp m + -1 + -1 * m.
Proof. destruct (Req_dec m 0) as [->|n]; [rewrite exp_0; lra|]; pose proof (exp_ineq1 m n); lra. Qed.

Theorem exp_tangent_le t c m : 0 <= c -> 0 <= t - c * (exp m - 1 - m) -> 0 <= t.
Proof. intros c0 rest; assert (0 <= c * (exp m - 1 - m)) by (pose proof (exp_tangent m); apply Rmult_le_pos; lra); lra. Qed.

Theorem exp_tangent_lt t c m : 0 <= c -> 0 < t - c * (exp m - 1 - m) -> 0 < t.
Proof. intros c0 rest; assert (0 <= c * (exp m - 1 - m)) by (pose proof (exp_tangent m); apply Rmult_le_pos; lra); lra. Qed.

(* "log-tangent": log(a) <= a - 1 for a > 0. *)
Theorem log_tangent a : 0 < a -> 0 <= a + -1 + -1 * ln a.
Proof. intros a0; pose proof (exp_tangent (ln a)) as h; rewrite exp_ln in h; lra. Qed.

Theorem log_tangent_le t c a : 0 < a -> 0 <= c -> 0 <= t - c * (a - 1 - ln a) -> 0 <= t.
Proof. intros a0 c0 rest; assert (0 <= c * (a - 1 - ln a)) by (pose proof (log_tangent a a0); apply Rmult_le_pos; lra); lra. Qed.

Theorem log_tangent_lt t c a : 0 < a -> 0 <= c -> 0 < t - c * (a - 1 - ln a) -> 0 < t.
Proof. intros a0 c0 rest; assert (0 <= c * (a - 1 - ln a)) by (pose proof (log_tangent a a0); apply Rmult_le_pos; lra); lra. Qed.

(* "ceiling": each number a is at most its ceiling c, and above c - 1. *)
Theorem ceiling_bounds a : 0 <= IZR (Zceil a) - a /\ 0 < a + 1 - IZR (Zceil a).
Proof.
pose proof (Zceil_ub a) as above; split; [lra|].
unfold Zceil; rewrite opp_IZR; pose proof (Zfloor_ub (- a)); lra.
Qed.
