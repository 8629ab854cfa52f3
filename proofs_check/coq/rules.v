(* Rules of the checker (proofs_check/kernel) as theorems about Coq's real numbers. A goal is t >= 0, or t > 0, for all points of a
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

(* Identities of normal forms (proofs_check/kernel/procedures/normal.py), by their names there. *)
(* "exp of a logarithm", "sum of exponents" and "power of a product": of the real powers of a number > 0, and of the natural ones of any. *)
Theorem exp_of_log a c : exp (c * ln a) = Rpower a c.
Proof. reflexivity. Qed.

Theorem exp_of_log_natural a n : 0 < a -> exp (INR n * ln a) = a ^ n.
Proof. exact (Rpower_pow n a). Qed.

Theorem sum_of_exponents a c d : Rpower a c * Rpower a d = Rpower a (c + d).
Proof. symmetry; apply Rpower_plus. Qed.

Theorem sum_of_exponents_natural a n m : a ^ n * a ^ m = a ^ (n + m).
Proof. symmetry; apply pow_add. Qed.

Theorem power_of_product a b c : 0 < a -> 0 < b -> Rpower (a * b) c = Rpower a c * Rpower b c.
Proof. intros a0 b0; symmetry; apply Rpower_mult_distr; assumption. Qed.

Theorem power_of_product_natural a b n : (a * b) ^ n = a ^ n * b ^ n.
Proof. apply Rpow_mult_distr. Qed.

(* "log of an exponential", where the logarithm is defined: exp(a) b > 0 is b > 0. *)
Theorem log_of_exponential a b : 0 < exp a * b -> ln (exp a * b) = a + ln b.
Proof.
intros ab; pose proof (exp_pos a) as a0; assert (0 < b).
{ apply (Rmult_lt_reg_l (exp a)); [exact a0|]; rewrite Rmult_0_r; exact ab. }
rewrite ln_mult, ln_exp by assumption; reflexivity.
Qed.

(* "log of a product" *)
Theorem log_of_product a b : 0 < a -> 0 < b -> ln (a * b) = ln a + ln b.
Proof. apply ln_mult. Qed.

(* "square of an Abs", "Abs by sign" *)
Theorem square_of_abs a : Rabs a ^ 2 = a ^ 2.
Proof. apply pow2_abs. Qed.

Theorem abs_by_sign a b : (0 <= a -> Rabs a = a) /\ Rabs (- a) = Rabs a /\ (0 < a -> Rabs (a * b) = a * Rabs b).
Proof.
split; [apply Rabs_pos_eq | split; [apply Rabs_Ropp|]].
intros a0; rewrite Rabs_mult, (Rabs_pos_eq a) by lra; reflexivity.
Qed.

(* "order of a Max", "factor of a Max", "Max by an Abs" *)
Theorem order_of_max a b c : Rmax a b = Rmax b a /\ Rmax (Rmax a b) c = Rmax a (Rmax b c).
Proof. split; [apply Rmax_comm | symmetry; apply Rmax_assoc]. Qed.

Theorem factor_of_max a b c : 0 < a -> Rmax (a * b) (a * c) = a * Rmax b c.
Proof. intros a0; apply RmaxRmult; lra. Qed.

Theorem max_by_abs a b : Rmax a b = (a + b + Rabs (a - b)) / 2.
Proof. unfold Rmax, Rabs; destruct (Rle_dec a b), (Rcase_abs (a - b)); lra. Qed.

(* "turns", "squares of cosines" *)
Theorem turns x : sin x = cos (x - PI / 2) /\ cos x = cos (- x) /\ cos x = cos (x + 2 * PI) /\ cos x = - cos (PI - x).
Proof.
repeat split.
- rewrite <- cos_neg; replace (- (x - PI / 2)) with (PI / 2 - x) by ring; symmetry; apply cos_shift.
- symmetry; apply cos_neg.
- rewrite cos_plus, cos_2PI, sin_2PI; ring.
- rewrite cos_minus, cos_PI, sin_PI; ring.
Qed.

Theorem squares_of_cosines :
  cos 0 ^ 2 = 1 /\ cos (PI / 6) ^ 2 = 3 / 4 /\ cos (PI / 4) ^ 2 = 1 / 2 /\ cos (PI / 3) ^ 2 = 1 / 4 /\ cos (PI / 2) ^ 2 = 0.
Proof.
rewrite cos_0, cos_PI6, cos_PI4, cos_PI3, cos_PI2; repeat split; try lra.
- replace ((sqrt 3 / 2) ^ 2) with (sqrt 3 * sqrt 3 / 4) by field; rewrite sqrt_sqrt by lra; reflexivity.
- assert (sqrt 2 <> 0) by (apply Rgt_not_eq, sqrt_lt_R0; lra).
  replace ((1 / sqrt 2) ^ 2) with (1 / (sqrt 2 * sqrt 2)) by (field; assumption); rewrite sqrt_sqrt by lra; reflexivity.
Qed.
