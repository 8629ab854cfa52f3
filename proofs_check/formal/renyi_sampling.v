(* Item 9, Renyi: Poisson sampling at natural orders. The record x is kept with probability q x; the bounds are sums over the binomial
   coefficients of the order (Mironov, Talwar and Zhang 2019; Zhu and Wang 2019). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From PDP Require Import laws composition sampling approximate renyi.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Mixtures.
Variables (R : realFieldType) (O : finType).
Implicit Types (F G : O -> R) (k : nat) (q : R).

(* The law on the sample, F without the record and G with it. *)
Definition blend q F G o := (1 - q) * F o + q * G o.

(* The moment of a mixture is a sum of moments of smaller orders, exactly. *)
Theorem moment_blend k q F G :
  moment k (blend q F G) F = \sum_(j < k.+1) (1 - q) ^+ (k - j) * q ^+ j * moment j G F *+ 'C(k, j).
Proof.
rewrite /moment; under [RHS]eq_bigr => j _ do rewrite mulr_sumr -sumrMnl.
rewrite exchange_big /=; apply: eq_bigr => o _; case: (eqVneq (F o) 0) => [->|f].
  by rewrite mul0r big1 // => j _; rewrite mul0r mulr0 mul0rn.
have -> : blend q F G o / F o = (1 - q) + q * (G o / F o) by rewrite /blend; field.
rewrite exprDn mulr_sumr; apply: eq_bigr => j _.
rewrite exprMn mulrnAr; congr (_ *+ _).
by move: (F o) ((1 - q) ^+ (k - j)) (q ^+ j) ((G o / F o) ^+ j) => a b c u; ring.
Qed.

(* The sizes of G - F, in place of those of G: E_F |G/F - 1|^j. *)
Definition central j G F := \sum_o F o * (`|G o - F o| / F o) ^+ j.

(* The other direction: F against the mixture. Its first order in q vanishes, because both laws sum to 1. *)
Theorem moment_blend_minus k q F G : is_law F -> is_law G -> covers F G -> 0 <= q < 1 ->
  moment k F (blend q F G) <= 1 + \sum_(2 <= j < k.+1) q ^+ j / (1 - q) ^+ j.-1 * central j G F *+ 'C(k, j).
Proof.
move=> [f0 f1] [g0 g1] ac /andP[q0 q1]; have r0 : 0 < 1 - q by rewrite subr_gt0.
have m0 o : F o != 0 -> 0 < blend q F G o.
  by move=> fn; rewrite ltr_paddr ?mulr_ge0 // mulr_gt0 // lt_neqAle eq_sym fn f0.
have z o : F o = 0 -> blend q F G o = 0 by move=> e; rewrite /blend e (ac o e) !mulr0 addr0.
pose d o := q * (F o - G o).
have e o : blend q F G o * (F o / blend q F G o) ^+ k =
    \sum_(j < k.+1) blend q F G o * (d o / blend q F G o) ^+ j *+ 'C(k, j).
  case: (eqVneq (F o) 0) => [f|/m0 mp]; first by rewrite z // mul0r big1 // => j _; rewrite mul0r mul0rn.
  have -> : F o / blend q F G o = 1 + d o / blend q F G o.
    by rewrite -{1}(divff (lt0r_neq0 mp)) -mulrDl; congr (_ / _); rewrite /d /blend; ring.
  by rewrite exprDn mulr_sumr; apply: eq_bigr => j _; rewrite expr1n mul1r mulrnAr.
rewrite /moment (eq_bigr _ (fun o _ => e o)) exchange_big /=.
rewrite -(big_mkord xpredT (fun j => \sum_o blend q F G o * (d o / blend q F G o) ^+ j *+ 'C(k, j))).
have first : \sum_o blend q F G o * (d o / blend q F G o) ^+ 0 *+ 'C(k, 0) = 1.
  under eq_bigr do rewrite expr0 mulr1 bin0 mulr1n.
  by rewrite big_split /= -!mulr_sumr f1 g1 !mulr1 subrK.
have term j : (1 < j)%N -> \sum_o blend q F G o * (d o / blend q F G o) ^+ j *+ 'C(k, j) <= q ^+ j / (1 - q) ^+ j.-1 * central j G F *+ 'C(k, j).
  case: j => // j _; rewrite sumrMnl ler_wmuln2r // /central mulr_sumr; apply: ler_sum => o _.
  case: (eqVneq (F o) 0) => [f|fn]; first by rewrite z // f !mul0r mulr0.
  have mp := m0 o fn; have fp : 0 < F o by rewrite lt_neqAle eq_sym fn f0.
  have mf : (1 - q) * F o <= blend q F G o by rewrite ler_addl mulr_ge0.
  have mfp : 0 < (1 - q) * F o by rewrite mulr_gt0.
  apply: (@le_trans _ _ (`|d o| ^+ j.+1 / blend q F G o ^+ j)).
    rewrite expr_div_n [blend q F G o ^+ j.+1]exprS invfM mulrCA mulVKf ?gt_eqF //.
    by rewrite ler_wpmul2r ?invr_ge0 ?exprn_ge0 ?(ltW mp) // -normrX ler_norm.
  apply: (@le_trans _ _ (`|d o| ^+ j.+1 / ((1 - q) * F o) ^+ j)).
    rewrite ler_wpmul2l ?exprn_ge0 // lef_pinv ?posrE ?exprn_gt0 //.
    by apply: ler_expn2r; rewrite ?nnegrE ?(ltW mp) ?(ltW mfp).
  rewrite le_eqVlt; apply/orP; left; apply/eqP.
  rewrite /d normrM (ger0_norm q0) distrC !exprMn exprVn [F o ^+ j.+1]exprS /=.
  have [A B] : (1 - q) ^+ j != 0 /\ F o ^+ j != 0 by rewrite !expf_neq0 ?gt_eqF.
  move: ((1 - q) ^+ j) (F o ^+ j) (q ^+ j.+1) (`|G o - F o| ^+ j.+1) A B => a b c e' A B.
  by field; rewrite A B fn.
case: k {e} first term => [|k] first term; first by rewrite big_nat1 first big_geq // addr0.
rewrite big_nat_recl // first ler_add2l big_nat_recl //.
have -> : \sum_o blend q F G o * (d o / blend q F G o) ^+ 1 *+ 'C(k.+1, 1) = 0.
  rewrite sumrMnl (eq_bigr d) => [|o _].
    by rewrite /d -mulr_sumr sumrB f1 g1 subrr mulr0 mul0rn.
  rewrite expr1 mulrC; case: (eqVneq (F o) 0) => [f|/m0 mp]; last by rewrite divfK // gt_eqF.
  by rewrite z // mulr0 /d f (ac o f) subrr mulr0.
rewrite add0r [X in _ <= X]big_add1 /= [X in _ <= X]big_add1 /=; apply: ler_sum_nat => j _; exact: term.
Qed.

End Mixtures.

Section Sampled.
Variables (R : realFieldType) (X O : finType).
Variables (q : X -> R) (N : {set X} -> O -> R) (D : {set X}) (x : X).
Implicit Types k j : nat.

Hypotheses (q01 : forall x, 0 <= q x <= 1) (N_law : forall S, is_law (N S)) (xD : x \notin D).

Let n0 S o : 0 <= N S o. Proof. by case: (N_law S). Qed.
Let drawn_ge0 S : 0 <= drawn q D S.
Proof. by apply: prodr_ge0 => y _; case: ifP => _; case/andP: (q01 y) => // *; rewrite subr_ge0. Qed.
Let blend_ge0 S o : 0 <= blend (q x) (N S) (N (x |: S)) o.
Proof. by case/andP: (q01 x) => *; rewrite addr_ge0 ?mulr_ge0 ?subr_ge0. Qed.

(* A bound for every sample of the others is one for the sampled mechanism. *)
Lemma renyi_sampled k C (F G : {set X} -> O -> R) : (forall S o, 0 <= F S o) -> (forall S o, 0 <= G S o) ->
  (forall S : {set X}, S \subset D -> renyi k C (F S) (G S)) -> renyi k C (sampled q F D) (sampled q G D).
Proof.
move=> f0 g0 h; split=> [o /eqP|].
  rewrite /sampled psumr_eq0 => [/allP z|S _]; last by rewrite mulr_ge0.
  apply: big1 => S sD; have := z S (mem_index_enum S); rewrite sD /= mulf_eq0.
  by case/orP=> /eqP e; [rewrite e mul0r|rewrite (h S sD).1 ?mulr0].
pose F' (S : {set X}) := if S \subset D then F S else G S.
have eF : sampled q F D =1 fun o => \sum_(S : {set X} | S \subset D) drawn q D S * F' S o.
  by move=> o; apply: eq_bigr => S sD; rewrite /F' sD.
have -> : moment k (sampled q F D) (sampled q G D) = moment k (fun o => \sum_(S : {set X} | S \subset D) drawn q D S * F' S o) (sampled q G D).
  by apply: eq_bigr => o _; rewrite eF.
apply: le_trans (moment_mix _ _ _ _ _ _ _) _ => [|S o||S o|] //.
- by rewrite /F'; case: ifP.
- by rewrite /F'; case: ifP => [/h[ac _] /ac|_].
rewrite -[X in _ <= X]mul1r -(drawn_sum q D) mulr_suml; apply: ler_sum => S sD.
by rewrite ler_wpmul2l // /F' sD; case: (h S sD).
Qed.

Lemma eq_renyi k C (P P' Q Q' : O -> R) : P =1 P' -> Q =1 Q' -> renyi k C P Q -> renyi k C P' Q'.
Proof.
move=> p e [ac le]; split=> [o|]; first by rewrite -p -e; apply: ac.
by apply: le_trans le; rewrite le_eqVlt; apply/orP; left; apply/eqP; apply: eq_bigr => o _; rewrite p e.
Qed.

(* The record goes: with bounds C j of the moments on every sample, j = 2, ..., k, the sampled mechanism has the moment
   sum_j binom(k, j) (1 - q)^(k - j) q^j C j of the order k, where C 0 = C 1 = 1. *)
Theorem renyi_amplification_plus k (C : nat -> R) : C 0%N = 1 -> C 1%N = 1 ->
  (forall (S : {set X}) j, S \subset D -> renyi j (C j) (N (x |: S)) (N S)) ->
  renyi k (\sum_(j < k.+1) (1 - q x) ^+ (k - j) * q x ^+ j * C j *+ 'C(k, j)) (sampled q N (x |: D)) (sampled q N D).
Proof.
move=> c0 c1 h; case/andP: (q01 x) => q0 q1; apply: eq_renyi (_ : renyi _ _ (sampled q (fun S => blend (q x) (N S) (N (x |: S))) D) _) => //.
  by move=> o; rewrite sampled_mix.
apply: renyi_sampled => // S sD; split=> [o e|]; first by rewrite /blend e ((h S 1%N sD).1 o e) !mulr0 addr0.
rewrite moment_blend; apply: ler_sum => j _; rewrite ler_wmuln2r // ler_wpmul2l //; last by case: (h S j sD).
by rewrite mulr_ge0 ?exprn_ge0 ?subr_ge0.
Qed.

(* The record comes: bounds A j of E|G/F - 1|^j on every sample, F without the record and G with it. *)
Theorem renyi_amplification_minus k (A : nat -> R) : q x < 1 ->
  (forall (S : {set X}) j, S \subset D -> covers (N S) (N (x |: S)) /\ central j (N (x |: S)) (N S) <= A j) ->
  renyi k (1 + \sum_(2 <= j < k.+1) q x ^+ j / (1 - q x) ^+ j.-1 * A j *+ 'C(k, j)) (sampled q N D) (sampled q N (x |: D)).
Proof.
move=> q1 h; case/andP: (q01 x) => q0 _; have r0 : 0 < 1 - q x by rewrite subr_gt0.
apply: eq_renyi (_ : renyi _ _ _ (sampled q (fun S => blend (q x) (N S) (N (x |: S))) D)) => //.
  by move=> o; rewrite sampled_mix.
apply: renyi_sampled => // S sD; split=> [o /eqP|].
  by rewrite /blend paddr_eq0 ?mulr_ge0 ?(ltW r0) // mulf_eq0 gt_eqF //= => /andP[/eqP].
apply: le_trans (moment_blend_minus _ _ _ _ _) _ => //; first by case: (h S 0%N sD).
  by rewrite q0.
rewrite ler_add2l; apply: ler_sum => j _; rewrite ler_wmuln2r // ler_wpmul2l //; last by case: (h S j sD).
by rewrite mulr_ge0 ?invr_ge0 ?exprn_ge0 ?(ltW r0).
Qed.

(* The same from a moment alone, for every q: at most 1 + q (C - 1). *)
Theorem renyi_amplification_convex k C :
  (forall S : {set X}, S \subset D -> renyi k C (N S) (N (x |: S))) -> renyi k (1 + q x * (C - 1)) (sampled q N D) (sampled q N (x |: D)).
Proof.
move=> h; case/andP: (q01 x) => q0 q1.
apply: eq_renyi (_ : renyi _ _ _ (sampled q (fun S => blend (q x) (N S) (N (x |: S))) D)) => //.
  by move=> o; rewrite sampled_mix.
apply: renyi_sampled => // S sD; have [ac le] := h S sD; split=> [o /eqP|].
  rewrite /blend paddr_eq0 ?mulr_ge0 ?subr_ge0 // !mulf_eq0 => /andP[/orP[e|/eqP //] /orP[/eqP z|/eqP /ac //]].
  by move: e; rewrite z subr0 oner_eq0.
pose w (b : bool) := if b then q x else 1 - q x.
pose G (b : bool) := if b then N (x |: S) else N S.
have eF : N S =1 fun o => \sum_b w b * N S o by move=> o; rewrite big_bool /= /w; ring.
have eG : blend (q x) (N S) (N (x |: S)) =1 fun o => \sum_b w b * G b o by move=> o; rewrite big_bool /= addrC.
have -> : moment k (N S) (blend (q x) (N S) (N (x |: S))) = moment k (fun o => \sum_b w b * N S o) (fun o => \sum_b w b * G b o).
  by apply: eq_bigr => o _; rewrite -eF -eG.
have le' := @moment_mix R O bool (index_enum [finType of bool]) xpredT w (fun _ => N S) G k.
apply: le_trans (le' _ _ _ _) _ => [b|//|b o|b o|]; rewrite /w /G; try by case: b; rewrite ?subr_ge0 //; apply: ac.
rewrite big_bool /= moment_refl // mulr1.
have -> : 1 + q x * (C - 1) = q x * C + (1 - q x) by ring.
by rewrite ler_add2r ler_wpmul2l.
Qed.

End Sampled.
