(* Item 9, continued: how "pdp account" bounds a composition. Pairs compose over any number of rounds, and the laws of losses that it computes
   with may be changed, on the upper side, by adding mass, by moving mass to a larger loss, and by spreading it (docs/composition-bounds.md,
   sections 2 and 3). *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From PDP Require Import laws composition sampling approximate dominating.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Rounds.
Variables (R : realFieldType) (O V : finType).
Implicit Types (P Q : seq O -> O -> R) (A B : V -> R).

(* The law of n independent draws. *)
Definition draws A n := @rounds R V (fun _ => A) [::] n.

Lemma transcript_constant A past (os : seq V) : transcript (fun _ => A) past os = transcript (fun _ => A) [::] os.
Proof. by elim: os past => [|o os ih] past //=; rewrite ih [in RHS]ih. Qed.

Lemma hs_rounds_cons (T : finType) (P Q : seq T -> T -> R) a past n : hs a (@rounds R T P past n.+1) (@rounds R T Q past n.+1) =
  hs a (chain (P past) (fun o => @rounds R T P (o :: past) n)) (chain (Q past) (fun o => @rounds R T Q (o :: past) n)).
Proof.
rewrite /hs /rounds (big_tuple_cons _ (fun os => pos (transcript P past os - a * transcript Q past os))) /=.
by rewrite -(pair_bigA _ (fun o (t : n.-tuple T) => pos (P past o * transcript P (o :: past) t - a * (Q past o * transcript Q (o :: past) t)))).
Qed.

(* n rounds, each chosen from the outputs before it, and each dominated by the pair (A, B), are dominated by n independent draws. *)
Theorem dominating_rounds P Q A B n : (forall past o, 0 <= P past o) -> (forall past o, 0 <= Q past o) ->
  (forall v, 0 <= A v) -> (forall v, 0 <= B v) -> (forall past, dominates A B (P past) (Q past)) ->
  dominates (draws A (n := n)) (draws B (n := n)) (@rounds R O P [::] n) (@rounds R O Q [::] n).
Proof.
move=> p0 q0 a0 b0 h; elim: n [::] => [|n ih] past a a1.
  rewrite /hs /rounds (big_tuple_nil (fun os => pos (transcript P past os - a * transcript Q past os))) /=.
  by rewrite (big_tuple_nil (fun os => pos (transcript (fun _ => A) [::] os - a * transcript (fun _ => B) [::] os))).
have t0 (T : finType) (F : seq T -> T -> R) before m t : (forall past o, 0 <= F past o) -> 0 <= @rounds R T F before m t.
  by move=> f0; apply: transcript_ge0.
rewrite /draws !hs_rounds_cons.
have -> : hs a (chain A (fun o => @rounds R V (fun _ => A) [:: o] n)) (chain B (fun o => @rounds R V (fun _ => B) [:: o] n)) =
    hs a (both A (draws A (n := n))) (both B (draws B (n := n))).
  by apply: eq_bigr => -[v t] _; rewrite /both /chain /draws /rounds /= !(transcript_constant _ [:: v]).
apply: dominating_pairs_compose a a1 => //; try by move=> *; apply: t0.
Qed.

End Rounds.

Section Losses.
Variable R : realFieldType.

(* A law of losses: finitely many masses m, each with l = e^-loss >= 0, where l = 0 is an infinite loss. Its curve at the factor a is
   sum m (1 - a l)^+. It need not have the mass 1. *)
Definition losses := seq (R * R).
Definition curve (mu : losses) a := \sum_(ml <- mu) ml.1 * pos (1 - a * ml.2).
Definition proper (mu : losses) := all (fun ml => (0 <= ml.1) && (0 <= ml.2)) mu.
Definition below (mu nu : losses) := forall a, 0 <= a -> curve mu a <= curve nu a.

(* The losses of a pair of laws, where P is not 0: their curve is the divergence (Lemma 1). *)
Definition losses_of (O : finType) (P Q : O -> R) : losses := [seq (P o, Q o / P o) | o <- enum O & P o != 0].

Theorem curve_is_divergence (O : finType) (P Q : O -> R) a : (forall o, 0 <= P o) -> (forall o, 0 <= Q o) -> 0 <= a ->
  curve (losses_of P Q) a = hs a P Q.
Proof.
move=> p0 q0 a0; rewrite /curve /losses_of big_map big_filter big_enum_cond /= /hs [RHS](bigID (fun o => P o != 0)) /=.
rewrite [X in _ = _ + X]big1 ?addr0 => [|o]; last first.
  by rewrite negbK => /eqP ->; rewrite sub0r pos_0 // oppr_le0 mulr_ge0.
apply: eq_bigr => o p; rewrite -pos_mul //; congr pos.
by rewrite mulrBr mulr1 mulrCA [P o * _]mulrC divfK.
Qed.

(* Adding mass; *)
Theorem adding_mass (mu nu : losses) : proper nu -> below mu (mu ++ nu).
Proof.
move=> p a a0; rewrite /curve big_cat /= ler_addl big_seq; apply: sumr_ge0 => ml /(allP p)/andP[m0 _].
by rewrite mulr_ge0 ?pos_ge0.
Qed.

(* moving the mass m to a larger loss; *)
Theorem moving_mass m l l' (mu : losses) : 0 <= m -> l' <= l -> below ((m, l) :: mu) ((m, l') :: mu).
Proof.
move=> m0 le a a0; rewrite /curve !big_cons ler_add2r ler_wpmul2l //= pos_mono //.
by rewrite ler_add2l ler_opp2 ler_wpmul2l.
Qed.

(* spreading it: p at x becomes b at l and c at r, with b + c = p and b l + c r = p x. *)
Theorem spreading p x b l c r (mu : losses) : 0 <= b -> 0 <= c -> b + c = p -> b * l + c * r = p * x ->
  below ((p, x) :: mu) [:: (b, l), (c, r) & mu].
Proof.
move=> b0 c0 e e' a a0; rewrite /curve !big_cons addrA ler_add2r /= -!pos_mul ?addr_ge0 -?e ?addr_ge0 //.
have -> : (b + c) * (1 - a * x) = b * (1 - a * l) + c * (1 - a * r).
  have -> : b * (1 - a * l) + c * (1 - a * r) = (b + c) - a * (b * l + c * r) by ring.
  by rewrite e' -e; ring.
exact: pos_add.
Qed.

(* The losses of independent mechanisms add up: their masses and their l multiply. *)
Definition convolve (mu nu : losses) : losses := [seq (ml.1 * kr.1, ml.2 * kr.2) | ml <- mu, kr <- nu].

Lemma curve_convolve (mu nu : losses) a : curve (convolve mu nu) a = \sum_(kr <- nu) kr.1 * curve mu (a * kr.2).
Proof.
rewrite /curve /convolve big_allpairs_dep /=.
under [RHS]eq_bigr do rewrite mulr_sumr.
rewrite [RHS]exchange_big /=; apply: eq_bigr => ml _; apply: eq_bigr => kr _.
have -> : a * (ml.2 * kr.2) = a * kr.2 * ml.2 by ring.
by rewrite [RHS]mulrCA mulrA.
Qed.

(* So whatever is done to one of them by such a step bounds the whole (Lemma 3). *)
Theorem convolve_below (mu mu' nu : losses) : proper nu -> below mu mu' -> below (convolve mu nu) (convolve mu' nu).
Proof.
move=> p h a a0; rewrite !curve_convolve !big_seq; apply: ler_sum => kr /(allP p)/andP[k0 r0].
by rewrite ler_wpmul2l // h // mulr_ge0.
Qed.

(* Data processing, from below (Lemma 4): of disjoint events with p_k <= P(E_k) and q_k >= Q(E_k), the divergence is at least sum (p_k - a q_k)^+. *)
Theorem lower_side (O K : finType) (f : O -> option K) (P Q : O -> R) (p q : K -> R) a : 0 <= a ->
  (forall k, p k <= event P (fun o => f o == Some k)) -> (forall k, event Q (fun o => f o == Some k) <= q k) ->
  \sum_k pos (p k - a * q k) <= hs a P Q.
Proof.
move=> a0 hp hq; apply: le_trans (merging f a P Q).
apply: (@le_trans _ _ (\sum_k pos (image f P (Some k) - a * image f Q (Some k)))).
  by apply: ler_sum => k _; apply: pos_mono; rewrite ler_add ?hp // ler_opp2 ler_wpmul2l // hq.
rewrite /hs [X in _ <= X](bigD1 None) //= (reindex_omap Some id) => [|[k|] //]; rewrite [X in _ <= _ + X](eq_bigl xpredT) => [|k]; last by rewrite /= ?eqxx.
by rewrite ler_addr pos_ge0.
Qed.

End Losses.
