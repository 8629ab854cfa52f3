(* Losses and factors. The theorems of proofs_check/formal speak of factors E = e^eps in any ordered field; here is what makes them say
   something of losses, over Coq's real numbers. *)
From Coq Require Import Reals Lra Lia ZArith.
Open Scope R_scope.

(* Sums of losses are products of factors, n times a loss is a power, and larger losses have larger factors. *)
Theorem factor_of_sum a b : exp (a + b) = exp a * exp b.
Proof. apply exp_plus. Qed.

Theorem factor_of_times n a : exp (INR n * a) = exp a ^ n.
Proof.
induction n as [|n IH]; [simpl; rewrite Rmult_0_l; apply exp_0|].
rewrite S_INR, Rmult_plus_distr_r, Rmult_1_l, exp_plus, IH; simpl; ring.
Qed.

Theorem factor_rises a b : a <= b <-> exp a <= exp b.
Proof.
split; intros [h|h]; [left; apply exp_increasing, h | right; rewrite h; reflexivity | left; apply exp_lt_inv, h | right; apply exp_inv, h].
Qed.

(* A loss of 0 or more is a factor of 1 or more. *)
Theorem factor_of_loss a : 0 <= a <-> 1 <= exp a.
Proof. rewrite <- exp_0; apply factor_rises. Qed.

(* psi of the direction plus, log(1 + q (e^eps - 1)), has the factor psi_plus; that of the direction minus, -log(1 - q (1 - e^-eps)), has
   psi_minus; and -log(1 - q), where nothing is known of the direction minus, has 1/(1 - q). *)
Theorem sampled_factor_plus q a : 0 <= q -> 0 <= a -> exp (ln (1 + q * (exp a - 1))) = 1 + q * (exp a - 1).
Proof. intros h g; apply factor_of_loss in g; apply exp_ln; nra. Qed.

Theorem sampled_factor_minus q a : 0 <= q <= 1 -> 0 <= a -> exp (- ln (1 - q * (1 - exp (- a)))) = / (1 - q * (1 - / exp a)).
Proof.
intros h g; assert (0 < exp (- a)) by apply exp_pos; assert (exp (- a) <= 1) by (rewrite <- exp_0; apply (proj1 (factor_rises _ _)); lra).
assert (0 < 1 - q * (1 - exp (- a))).
{ destruct (Req_dec q 1) as [->|n]; [lra|]. assert (0 <= q * exp (- a)) by (apply Rmult_le_pos; lra); lra. }
rewrite (exp_Ropp (ln _)), exp_ln by assumption; rewrite exp_Ropp; reflexivity.
Qed.

Theorem one_sided_factor q : q < 1 -> exp (- ln (1 - q)) = / (1 - q).
Proof. intros h; rewrite exp_Ropp, exp_ln; lra. Qed.

(* The best calibration: p = 1 - e^-eps is 1 - 1/E, and eps0 = log(1 + e^eps) has the factor 1 + E. *)
Theorem calibrated_factor e : 1 - exp (- e) = 1 - / exp e /\ exp (ln (1 + exp e)) = 1 + exp e.
Proof. pose proof (exp_pos e); split; [rewrite exp_Ropp; reflexivity | apply exp_ln; lra]. Qed.

Lemma ln_power x n : 0 < x -> ln (x ^ n) = INR n * ln x.
Proof. intros h; apply ln_pow, h. Qed.

(* A fraction k/m between two numbers. *)
Lemma fraction_between s r : 0 <= s -> s < r -> exists k m : nat, (0 < m)%nat /\ INR m * s < INR k /\ INR k <= INR m * r.
Proof.
intros s0 h; pose (d := r - s); assert (d0 : 0 < d) by (unfold d; lra).
destruct (archimed_cor1 d d0) as (m & hm & m0).
assert (M : 0 < INR m) by (apply lt_0_INR; exact m0).
assert (g : 1 < INR m * d).
{ replace 1 with (INR m * / INR m) by (field; lra). apply Rmult_lt_compat_l; assumption. }
destruct (archimed (INR m * s)) as [a b]; set (k := up (INR m * s)) in *.
assert (k0 : (0 <= k)%Z) by (apply le_IZR; assert (0 <= INR m * s) by (apply Rmult_le_pos; lra); lra).
exists (Z.to_nat k), m; rewrite (INR_IZR_INZ (Z.to_nat k)), Z2Nat.id by exact k0.
repeat split; [exact m0 | lra | unfold d in g; nra].
Qed.

(* log_at_most of calibration.v compares logarithms by powers: over the real numbers it says p log E0 <= p' log E0'. *)
Theorem logarithms_by_powers p E0 p' E0' : 0 < p -> 0 <= p' -> 1 < E0' -> 0 < E0 ->
  (forall k m : nat, (0 < m)%nat -> E0' ^ k <= E0 ^ m -> INR k * p <= INR m * p') <-> p * ln E0 <= p' * ln E0'.
Proof.
intros p0 p0' e' e; assert (l' : 0 < ln E0') by (rewrite <- ln_1; apply ln_increasing; lra).
split; intros h.
- destruct (Rle_or_lt (p * ln E0) (p' * ln E0')) as [g|g]; [exact g|exfalso].
  assert (sr : p' / p < ln E0 / ln E0').
  { apply (Rmult_lt_reg_r p); [exact p0|]; apply (Rmult_lt_reg_r (ln E0')); [exact l'|].
    replace (p' / p * p * ln E0') with (p' * ln E0') by (field; lra).
    replace (ln E0 / ln E0' * p * ln E0') with (p * ln E0) by (field; lra). exact g. }
  assert (s0 : 0 <= p' / p) by (apply Rmult_le_pos; [exact p0' | left; apply Rinv_0_lt_compat, p0]).
  destruct (fraction_between _ _ s0 sr) as (k & m & m0 & lo & hi).
  assert (powers : E0' ^ k <= E0 ^ m).
  { assert (0 < E0' ^ k) by (apply pow_lt; lra); assert (0 < E0 ^ m) by (apply pow_lt; exact e).
    rewrite <- (exp_ln (E0' ^ k)), <- (exp_ln (E0 ^ m)) by assumption; apply (proj1 (factor_rises _ _)).
    rewrite !ln_power by lra.
    replace (INR m * ln E0) with (INR m * (ln E0 / ln E0') * ln E0') by (field; lra).
    apply Rmult_le_compat_r; lra. }
  specialize (h k m m0 powers).
  assert (INR m * (p' / p) * p < INR k * p) by (apply Rmult_lt_compat_r; assumption).
  replace (INR m * (p' / p) * p) with (INR m * p') in H by (field; lra); lra.
- intros k m m0 powers; assert (M : 0 < INR m) by (apply lt_0_INR; exact m0).
  assert (0 < E0' ^ k) by (apply pow_lt; lra); assert (0 < E0 ^ m) by (apply pow_lt; exact e).
  assert (logs : INR k * ln E0' <= INR m * ln E0).
  { rewrite <- !ln_power by lra; destruct powers as [q|q]; [left; apply ln_increasing; assumption | rewrite q; right; reflexivity]. }
  apply (Rmult_le_reg_r (ln E0')); [exact l'|].
  assert (INR k * ln E0' * p <= INR m * ln E0 * p) by (apply Rmult_le_compat_r; lra).
  assert (INR m * (p * ln E0) <= INR m * (p' * ln E0')) by (apply Rmult_le_compat_l; lra).
  nra.
Qed.
