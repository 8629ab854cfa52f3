(* Item 5: the repeated exponential mechanism and repeated above-threshold (docs/one-sided.md, Theorems A, A', B).

   A score s counts here as its weight e^(lambda s), a positive number. So scores that do not fall when the record comes (Assumption 4.1)
   are weights that do not fall, and "the differences of the scores of the outputs add up to at most Delta" (4.2) says that the quotients of
   their weights have a product of at most e^(lambda Delta) = E0. Scores, and the law of discrete noise, may be any. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From PDP Require Import laws composition.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Exponential.
Variables (R : realFieldType) (O : finType).
Implicit Types (u v : seq O -> O -> R).

(* After the outputs "past", the candidate o is chosen with probability proportional to u past o. *)
Definition choose u past o := u past o / \sum_o' u past o'.
Definition repeated_exponential u n := @rounds R O (choose u) [::] n.

(* The product of the quotients of weights along the outputs. *)
Fixpoint gain u v past (os : seq O) : R :=
  if os is o :: os' then u past o / v past o * gain u v (o :: past) os' else 1.

(* u are the weights on the data with the record, v those without. *)
Variables (u v : seq O -> O -> R) (E0 : R) (n : nat).
Hypotheses (u0 : forall past o, 0 < u past o) (v0 : forall past o, 0 < v past o).
Hypothesis monotone : forall past o, v past o <= u past o.                         (* Assumption 4.1 *)
Hypothesis sums : forall os, size os = n -> gain u v [::] os <= E0.                (* Assumption 4.2 *)

Let sum_gt0 (w : seq O -> O -> R) past (o : O) : (forall past o, 0 < w past o) -> 0 < \sum_o' w past o'.
Proof.
by move=> w0; rewrite (bigD1 o) //= ltr_spaddl // sumr_ge0 // => o' _; apply: ltW.
Qed.

Lemma choose_law (w : seq O -> O -> R) past : (forall past o, 0 < w past o) -> (0 < #|O|)%N -> is_law (choose w past).
Proof.
move=> w0 /card_gt0P[o _]; have s := sum_gt0 past o w0; split=> [o'|].
  by rewrite divr_ge0 // ltW.
by rewrite -mulr_suml mulfV // gt_eqF.
Qed.

Let choose_ge0 (w : seq O -> O -> R) past o : (forall past o, 0 < w past o) -> 0 <= choose w past o.
Proof. by move=> w0; rewrite divr_ge0 // ltW // (sum_gt0 _ o). Qed.

Let cu0 past o : 0 <= choose u past o. Proof. exact: choose_ge0. Qed.
Let cv0 past o : 0 <= choose v past o. Proof. exact: choose_ge0. Qed.

Lemma gain_ge1 past os : 1 <= gain u v past os.
Proof.
elim: os past => [|o os ih] past //=; apply: mulr_ege1 => //.
by rewrite ler_pdivl_mulr // mul1r.
Qed.

(* Theorem A (Theorem 4.3 of Ghazi et al., corrected): the loss in the direction plus is E0, whatever the number of rounds. *)
Theorem repeated_exponential_plus : within E0 (repeated_exponential u (n := n)) (repeated_exponential v (n := n)).
Proof.
move=> t; apply: le_trans (_ : gain u v [::] t * rounds (choose v) [::] t <= _); last first.
  by rewrite ler_wpmul2r ?sums ?size_tuple // transcript_ge0.
rewrite /repeated_exponential /rounds; elim: (val t) [::] => [|o os ih] past /=; first by rewrite mulr1.
rewrite mulrACA; apply: ler_pmul => //; rewrite ?transcript_ge0 //.
have su := sum_gt0 past o u0; have sv := sum_gt0 past o v0.
rewrite /choose mulrA divfK ?gt_eqF // ler_wpmul2l ?(ltW (u0 _ _)) // lef_pinv //.
by apply: ler_sum => o' _; apply: monotone.
Qed.

(* Theorem A': in the direction minus each round costs at most E0, because a single quotient of weights is at most E0, which in turn
   follows from 4.1 and 4.2 where every past has n rounds in all. *)
Lemma quotient_bound past o : (size past < n)%N -> u past o / v past o <= E0.
Proof.
move=> lt; pose rest := rcons (rev past) o; pose os := rest ++ nseq (n - (size past).+1) o.
have so : size os = n by rewrite size_cat size_nseq size_rcons size_rev subnKC.
apply: le_trans (sums so).
have g : forall before mid, gain u v before (mid ++ nseq (n - (size past).+1) o) >= gain u v before mid.
  move=> before mid; elim: mid before => [|m mid ih] before /=; first exact: gain_ge1.
  by rewrite ler_wpmul2l // divr_ge0 // ltW.
apply: le_trans (g [::] rest); rewrite /rest -cats1.
have h : forall front before, u (catrev front before) o / v (catrev front before) o <= gain u v before (front ++ [:: o]).
  elim=> [|f front ih] before /=; first by rewrite mulr1.
  apply: le_trans (ih _) _; rewrite ler_pemull ?(le_trans ler01 (gain_ge1 _ _)) //.
  by rewrite ler_pdivl_mulr // mul1r.
by have := h (rev past) [::]; rewrite catrevE revK cats0.
Qed.

Lemma minus_transcript os past : (size past + size os)%N = n ->
  transcript (choose v) past os <= E0 ^+ size os * transcript (choose u) past os.
Proof.
elim: os past => [|o os ih] past /= sz; first by rewrite expr0 mulr1.
have lt : (size past < n)%N by rewrite -sz addnS ltnS leq_addr.
rewrite exprS mulrACA; apply: ler_pmul; rewrite ?transcript_ge0 //.
  have su := sum_gt0 past o u0; have sv := sum_gt0 past o v0; rewrite /choose.
  have le : \sum_o' u past o' <= E0 * \sum_o' v past o'.
    by rewrite mulr_sumr; apply: ler_sum => o' _; rewrite -ler_pdivr_mulr // quotient_bound.
  have e : E0 * (u past o / \sum_o' u past o') * (\sum_o' v past o') = u past o * (E0 * (\sum_o' v past o') / (\sum_o' u past o')).
    by ring.
  rewrite ler_pdivr_mulr // e.
  apply: le_trans (monotone _ _) _; rewrite ler_pemulr ?(ltW (u0 _ _)) //.
  by rewrite ler_pdivl_mulr // mul1r.
by apply: ih; rewrite /= addSnnS.
Qed.

Theorem repeated_exponential_minus : within (E0 ^+ n) (repeated_exponential v (n := n)) (repeated_exponential u (n := n)).
Proof. by move=> t; have := @minus_transcript t [::]; rewrite size_tuple; apply. Qed.

End Exponential.

Section Threshold.
Variables (R : realFieldType) (n : nat).

(* Above-threshold with noise theta >= 0: the answer is "above" if h + theta >= t. For integers h, t and geometric noise,
   P(theta >= k) = r^k for k >= 0, the answer has probability r^(t - h), or 1 where h >= t: the smaller of 1 and the weight
   a = e^(lambda (h - t)) = r^(t - h). This is also the law with the exponential distribution and any real h and t. *)
Definition answer (a : R) (above : bool) := let p := Num.min 1 a in if above then p else 1 - p.

Lemma answer_law (a : R) : 0 < a -> is_law (answer a).
Proof.
move=> a0; split=> [b|]; last by rewrite big_bool /= addrC subrK.
by case: b; rewrite /answer /= ?subr_ge0 ?le_minl ?lexx // le_minr ler01 ltW.
Qed.

(* a and b are the weights e^(lambda (h - t)) of a round after the past, on the data with and without the record. *)
Variables (a b : seq bool -> R) (E0 : R).
Definition repeated_threshold (w : seq bool -> R) := @rounds R [finType of bool] (fun past => answer (w past)) [::] n.

(* The product of the quotients a / b over the rounds that are answered "above". *)
Fixpoint gain_above past (os : seq bool) : R :=
  if os is o :: os' then (if o then a past / b past else 1) * gain_above (o :: past) os' else 1.

Hypotheses (b0 : forall past, 0 < b past).
Hypothesis monotone : forall past, b past <= a past.                                (* Assumption 5.1 *)
Hypothesis sums : forall os, size os = n -> gain_above [::] os <= E0.               (* Assumption 5.2 *)

(* Theorem B (Theorem 5.3 of Ghazi et al.): the loss in the direction plus is E0, whatever the number of rounds. In the direction minus there is
   no finite factor: where b < 1 <= a the answer "below" has probability 0 with the record and 1 - b without. *)
Theorem repeated_threshold_plus : within E0 (repeated_threshold a) (repeated_threshold b).
Proof.
have a0 past : 0 < a past by apply: lt_le_trans (monotone past).
have an0 past o : 0 <= answer (a past) o by case: (answer_law (a0 past)).
have bn0 past o : 0 <= answer (b past) o by case: (answer_law (b0 past)).
move=> t; apply: le_trans (_ : gain_above [::] t * rounds (fun past => answer (b past)) [::] t <= _); last first.
  by rewrite ler_wpmul2r ?sums ?size_tuple // transcript_ge0.
rewrite /repeated_threshold /rounds; elim: (val t) [::] => [|o os ih] past /=; first by rewrite mulr1.
rewrite mulrACA; apply: ler_pmul => //; rewrite ?transcript_ge0 //.
case: o; rewrite /answer; last by rewrite mul1r ler_add2l ler_opp2 le_minr le_minl lexx le_minl monotone orbT.
case: (lerP 1 (b past)) => bb; last by rewrite divfK ?gt_eqF ?b0 // le_minl lexx orbT.
rewrite mulr1 ler_pdivl_mulr //; case: (lerP 1 (a past)) => aa; last by rewrite ltNge (le_trans bb) in aa.
rewrite mul1r; exact: monotone.
Qed.

Theorem threshold_has_no_minus : forall past, b past < 1 <= a past -> forall E, ~ within E (answer (b past)) (answer (a past)).
Proof.
move=> past /andP[b1 a1] E /(_ false); rewrite /answer /=.
by rewrite (min_idPl a1) subrr mulr0 (min_idPr (ltW b1)) subr_le0 leNgt b1.
Qed.

End Threshold.
