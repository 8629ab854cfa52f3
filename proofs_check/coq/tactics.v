(* What closes the goals of a certificate over Coq's real numbers: interval arithmetic (coq-interval), signs read off sums and products,
   and linear and polynomial arithmetic. It follows rules.v. Nothing here is believed: each lemma ends with Qed, where Coq's own kernel checks its proof. *)
From Coq Require Import Psatz.
From Interval Require Import Tactic.

Lemma ln_ge_0 a : 1 <= a -> 0 <= ln a.
Proof. intros [h| <-]; [left; rewrite <- ln_1; apply ln_increasing; lra | rewrite ln_1; lra]. Qed.

Lemma ln_gt_0 a : 1 < a -> 0 < ln a.
Proof. intros h; rewrite <- ln_1; apply ln_increasing; lra. Qed.

Lemma equal_le a : a = 0 -> 0 <= a.
Proof. intros ->; apply Rle_refl. Qed.

Lemma even_pow a n : 0 <= a ^ (n + n).
Proof. rewrite pow_add; apply Rle_0_sqr. Qed.

Lemma odd_pow a n : 0 <= a -> 0 <= a ^ n.
Proof. apply pow_le. Qed.

Lemma inverse_le a : 0 < a -> 0 <= / a.
Proof. intros h; left; apply Rinv_0_lt_compat, h. Qed.

Lemma negative_twice a b : 0 <= - a -> 0 <= - b -> 0 <= a * b.
Proof. intros h k; replace (a * b) with (- a * - b) by ring; apply Rmult_le_pos; assumption. Qed.

(* A sum or product of what is >= 0 (or > 0), down to leaves that linear or interval arithmetic closes. *)
Ltac leaf := first [assumption | lra | solve [interval]].
Ltac sign :=
  lazymatch goal with
  | |- 0 <= exp ?m + -1 + -1 * ?m => apply exp_tangent
  | |- 0 <= ?a + -1 + -1 * ln ?a => apply log_tangent; sign
  | |- 0 <= ?a + ?b => first [solve [apply Rplus_le_le_0_compat; sign] | leaf]
  | |- 0 < ?a + ?b => first [solve [apply Rplus_lt_le_0_compat; sign] | solve [apply Rplus_le_lt_0_compat; sign] | leaf]
  | |- 0 <= ?a * ?a => apply Rle_0_sqr
  | |- 0 <= ?a * ?b => first [solve [apply Rmult_le_pos; sign] | leaf]
  | |- 0 < ?a * ?b => first [solve [apply Rmult_lt_0_compat; sign] | leaf]
  | |- 0 <= ?a ^ 2 => apply pow2_ge_0
  | |- 0 <= ?a ^ 4 => apply (even_pow a 2)
  | |- 0 <= ?a ^ _ => apply pow_le; sign
  | |- 0 < ?a ^ _ => apply pow_lt; sign
  | |- 0 <= / ?a => apply inverse_le; sign
  | |- 0 < / ?a => apply Rinv_0_lt_compat; sign
  | |- 0 < exp _ => apply exp_pos
  | |- 0 <= exp _ => left; apply exp_pos
  | |- 0 <= sqrt _ => apply sqrt_pos
  | |- 0 < sqrt _ => apply sqrt_lt_R0; sign
  | |- 0 <= Rabs _ => apply Rabs_pos
  | |- 0 <= ln _ => first [solve [apply ln_ge_0; leaf] | leaf]
  | |- 0 < ln _ => first [solve [apply ln_gt_0; leaf] | leaf]
  | |- _ => leaf
  end.

(* Equality: of polynomials, of fractions whose denominators are not 0, and of these with exponentials as atoms once their exponents agree. *)
Ltac nonzero := repeat split; first [lra | apply Rgt_not_eq; sign | apply Rlt_not_eq; nra | interval | nra].
Ltac polynomial := solve [ring | field; nonzero].
Ltac split_exponentials := rewrite ?exp_plus, ?exp_Ropp.
Ltac constants :=
  rewrite ?ln_exp, ?ln_1, ?sqrt_1, ?exp_0, ?Rmult_0_r, ?Rmult_0_l, ?Rplus_0_l, ?Rplus_0_r, ?pow1, ?Rinv_1;
  repeat match goal with |- context [exp (ln ?a)] => rewrite (exp_ln a) by sign end.
(* Two logarithms, roots or exponentials whose arguments are equal, or of which one exponent is twice, or less than nothing by, the other. *)
Ltac relate :=
  repeat match goal with
  | |- context [exp ?a] => match goal with
    | |- context [exp ?b] => tryif constr_eq a b then fail else first
      [ replace (exp a) with (exp b) by (apply f_equal; polynomial)
      | replace (exp a) with (/ exp b) by (rewrite <- exp_Ropp; apply f_equal; polynomial)
      | replace (exp a) with (exp b * exp b) by (rewrite <- exp_plus; apply f_equal; polynomial) ]
    | |- context [ln ?b] => first
      [ replace (exp a) with b by (rewrite <- (exp_ln b) by sign; apply f_equal; polynomial)
      | replace (exp a) with (/ b) by (rewrite <- (exp_ln b) at 1 by sign; rewrite <- exp_Ropp; apply f_equal; polynomial)
      | replace (ln b) with a by (rewrite <- (ln_exp a); apply f_equal; polynomial) ]
    end
  | |- context [ln ?a] => match goal with
    | |- context [ln ?b] => tryif constr_eq a b then fail else replace (ln a) with (ln b) by (apply f_equal; polynomial)
    end
  | |- context [sqrt ?a] => match goal with
    | |- context [sqrt ?b] => tryif constr_eq a b then fail else replace (sqrt a) with (sqrt b) by (apply f_equal; polynomial)
    end
  end.
Ltac roots :=
  repeat match goal with
  | |- context [sqrt ?x] => is_var x; let r := fresh "r" in let e := fresh "e" in
    assert (e : x = sqrt x * sqrt x) by (symmetry; apply sqrt_sqrt; lra);
    assert (0 <= sqrt x) by apply sqrt_pos; try assert (0 < sqrt x) by (apply sqrt_lt_R0; lra);
    set (r := sqrt x) in *; clearbody r; subst x
  | |- context [sqrt (?c + ?x)] => is_var x; let r := fresh "r" in let e := fresh "e" in
    assert (e : x = sqrt (c + x) * sqrt (c + x) - c) by (rewrite sqrt_sqrt; lra);
    assert (0 <= sqrt (c + x)) by apply sqrt_pos; try assert (0 < sqrt (c + x)) by (apply sqrt_lt_R0; lra);
    set (r := sqrt (c + x)) in *; clearbody r; subst x
  end.
Ltac same :=
  first [polynomial | solve [constants; relate; constants; polynomial] | solve [split_exponentials; constants; relate; constants; polynomial]
    | solve [progress roots; constants; relate; polynomial]].

(* The larger of two numbers, absolute values and choices: one case after the other. *)
Ltac cases := unfold Rmax, Rabs; repeat match goal with |- context [if ?d then _ else _] => destruct d end; repeat match goal with |- context [match ?d with _ => _ end] => destruct d end.

(* A derivative, as the checker writes it. *)
Ltac slope := auto_derive; [repeat split; try exact I; first [sign | nonzero] | same].
(* What lies in the ranges of a lemma's variables, and conjunctions taken apart. *)
Ltac inside := first [assumption | lra | split; sign | sign].
Ltac apart := repeat match goal with h : _ /\ _ |- _ => destruct h end.
