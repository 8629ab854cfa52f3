(* Item 7: truncating sums toward zero and rounding the output cost nothing (docs/exact-noise.md, Theorems 1 and 2), for noise on the whole
   numbers. Outputs may be countably many: a law is a function "mass" on them, and the probability of an event is the least upper bound of the
   masses of its finite parts. So "P(A) <= b" says that no finite part of A has more mass than b. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring zify.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Countable.
Variables (R : realFieldType) (T : eqType).
Implicit Types (p : T -> R) (A : pred T) (s : seq T).

(* The probability of the event A is at most b. *)
Definition at_most p A (b : R) := forall s, uniq s -> all A s -> \sum_(t <- s) p t <= b.

(* P(A) <= E Q(A): every bound of the right-hand side, times E, is one of the left. *)
Definition event_within (E : R) p p' A := forall b, at_most p' A b -> at_most p A (E * b).

Lemma masses_within (E : R) p p' A : 0 <= E -> (forall t, p t <= E * p' t) -> event_within E p p' A.
Proof.
move=> E0 h b bA s us As; apply: (@le_trans _ _ (E * \sum_(t <- s) p' t)); last by rewrite ler_wpmul2l ?bA.
by rewrite mulr_sumr; apply: ler_sum.
Qed.

End Countable.

Section Noise.
Variables (R : realFieldType) (nu : int -> R) (r : R).

(* Noise whose masses change at most by the factor 1/r from one whole number to the next: r = e^(-1/b). *)
Hypotheses (nu0 : forall k, 0 <= nu k) (r0 : 0 < r) (r1 : r <= 1).
Hypothesis step : forall k, r * nu k <= nu (k + 1) /\ r * nu (k + 1) <= nu k.

Lemma shift_nat k (j : nat) : r ^+ j * nu k <= nu (k + j%:Z) /\ r ^+ j * nu (k + j%:Z) <= nu k.
Proof.
elim: j => [|j [up down]]; first by rewrite expr0 !mul1r addr0.
have [u d] := step (k + j%:Z); rewrite -addn1 PoszD addrA exprD expr1; split.
  by apply: le_trans u; rewrite mulrAC mulrC ler_wpmul2l // ltW.
by rewrite -mulrA; apply: le_trans down; rewrite ler_wpmul2l // exprn_ge0 // ltW.
Qed.

(* A shift by d costs the factor r^-|d|. *)
Lemma shift k d : nu k <= r ^- `|d|%N * nu (k + d).
Proof.
rewrite mulrC ler_pdivl_mulr ?exprn_gt0 // mulrC; case: d => [d|d] /=; first by case: (shift_nat k d).
by have := shift_nat (k + Negz d) d.+1; rewrite NegzE subrK; case.
Qed.

(* The released number is f(total + noise), where f is rounding to a public grid, or any other function. *)
Definition noisy (total : int) : int -> R := fun y => nu (y - total).

(* Theorems 1 and 2 of that page: totals that differ by u, at most c grid steps in size, are within r^-c of each other, for every event of the
   rounded output; f is any function to a countable set, and its cells may be infinite. *)
Theorem rounded_output (T : eqType) (f : int -> T) (A : pred T) (total u : int) (c : nat) : (`|u| <= c)%N ->
  event_within (r ^- c) (noisy (total + u)) (noisy total) (fun y => A (f y)) /\
  event_within (r ^- c) (noisy total) (noisy (total + u)) (fun y => A (f y)).
Proof.
move=> uc; have rc : r ^- `|u|%N <= r ^- c.
  by rewrite lef_pinv ?posrE ?exprn_gt0 // ler_wiexpn2l // ltW.
have c0 : 0 <= r ^- c by rewrite invr_ge0 exprn_ge0 // ltW.
split; apply: masses_within => // y; rewrite /noisy.
  apply: le_trans (shift _ u) _; rewrite (_ : y - (total + u) + u = y - total); last by ring.
  by rewrite ler_wpmul2r.
apply: le_trans (shift _ (- u)) _; rewrite abszN (_ : y - total - u = y - (total + u)); last by ring.
by rewrite ler_wpmul2r.
Qed.

End Noise.

Section Truncation.

(* Truncation toward zero of the quotient m/k: the share of one record in a sum of multiples of the grid. *)
Definition trunc (m : int) (k : nat) : int := if m is Posz j then (j %/ k)%N%:Z else - (`|m| %/ k)%N%:Z.

(* It is never larger than what is truncated: |trunc(m/k)| k <= |m|. So a record of norm at most c grid steps changes the total by at most c. *)
Theorem truncation_is_free m k : (`|trunc m k| * k <= `|m|)%N.
Proof. by case: m => [j|j] /=; rewrite ?abszN /= leq_trunc_div. Qed.

Definition total (X : finType) (m : X -> int) (k : nat) (D : {set X}) : int := \sum_(y in D) trunc (m y) k.

Theorem truncated_total (X : finType) (m : X -> int) (k c : nat) (D : {set X}) x : (0 < k)%N -> x \notin D -> (`|m x| <= c * k)%N ->
  (absz (total m k (x |: D) - total m k D)%R <= c)%N.
Proof.
move=> k0 nx mc; rewrite /total big_setU1 //= addrK.
by rewrite -(leq_pmul2r k0) (leq_trans (truncation_is_free _ _)).
Qed.

End Truncation.

Section DiscreteLaplace.
Variables (R : realFieldType) (r : R).
Hypotheses (r0 : 0 < r) (r1 : r < 1).

(* The discrete Laplace distribution: k has the mass (1 - r)/(1 + r) r^|k|. *)
Definition discrete_laplace (k : int) : R := (1 - r) / (1 + r) * r ^+ `|k|.

Lemma constant_gt0 : 0 < (1 - r) / (1 + r).
Proof. by rewrite divr_gt0 ?subr_gt0 // addr_gt0 ?ltr01. Qed.

Theorem discrete_laplace_ratio : forall k, r * discrete_laplace k <= discrete_laplace (k + 1) /\ r * discrete_laplace (k + 1) <= discrete_laplace k.
Proof.
have s (a b : nat) : (b <= a.+1)%N -> r * ((1 - r) / (1 + r) * r ^+ a) <= (1 - r) / (1 + r) * r ^+ b.
  move=> h; rewrite mulrCA -exprS ler_wpmul2l ?(ltW constant_gt0) // ler_wiexpn2l // ltW //.
move=> k; rewrite /discrete_laplace; split; apply: s; lia.
Qed.

(* Its masses on -n, ..., n add up to 1 - 2 r^(n+1) / (1 + r), which is as close to 1 as one likes. *)
Theorem discrete_laplace_mass n : discrete_laplace 0 + \sum_(i < n) (discrete_laplace i.+1%:Z + discrete_laplace (- i.+1%:Z)) =
  1 - 2%:R * r ^+ n.+1 / (1 + r).
Proof.
have p0 : 1 + r != 0 by rewrite gt_eqF // addr_gt0 ?ltr01.
elim: n => [|n ih]; first by rewrite big_ord0 addr0 /discrete_laplace expr0 expr1; field.
by rewrite big_ord_recr /= addrA ih /discrete_laplace !exprS; field.
Qed.

End DiscreteLaplace.
