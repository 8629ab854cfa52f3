(* Item 2: adaptive composition, n-fold by recursion over the past, and parallel composition over disjoint clusters. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From PDP Require Import laws.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Two.
Variables (R : realFieldType) (O T : finType).
Implicit Types (P Q : O -> R).

(* The law of (o, t): o is drawn from P, and then t from K o. *)
Definition chain P (K : O -> T -> R) : O * T -> R := fun ot => P ot.1 * K ot.1 ot.2.

Theorem chain_law P K : is_law P -> (forall o, is_law (K o)) -> is_law (chain P K).
Proof.
move=> [p0 p1] k; split=> [[o t]|]; first by rewrite mulr_ge0 //; case: (k o).
rewrite -p1 -(pair_bigA _ (fun o t => P o * K o t)) /=.
by apply: eq_bigr => o _; rewrite -mulr_sumr; case: (k o) => _ ->; rewrite mulr1.
Qed.

(* The second part may be chosen from the output of the first: its factor F has to hold after each of them. *)
Theorem chain_within E F P Q (K L : O -> T -> R) :
  (forall o, 0 <= Q o) -> (forall o t, 0 <= K o t) -> 0 <= E ->
  within E P Q -> (forall o, within F (K o) (L o)) -> within (E * F) (chain P K) (chain Q L).
Proof.
move=> q0 k0 e0 h k [o t]; rewrite /chain /=.
apply: (@le_trans _ _ (E * Q o * K o t)); first by rewrite ler_wpmul2r.
by rewrite -!mulrA (mulrCA F) !mulrA -!mulrA ler_wpmul2l // ler_wpmul2l // k.
Qed.

End Two.

Section PDP.
Variables (R : realFieldType) (X O T : finType).

(* Profiles add up: of a mechanism M and of mechanisms N o, one of which is run on the same data after the output o of M. *)
Theorem pdp_composition (M : wdata R X -> O -> R) (N : O -> wdata R X -> T -> R) E F :
  mechanism M -> (forall o, mechanism (N o)) -> (forall w x, 1 <= w -> 0 <= E w x) ->
  pdp M E -> (forall o, pdp (N o) F) ->
  pdp (fun D => chain (M D) (fun o => N o D)) (fun w x => E w x * F w x).
Proof.
move=> m n e0 [mp mm] np.
have m0 D o : 0 <= M D o by case: (m D).
have n0 o D t : 0 <= N o D t by case: (n o D).
split=> D x w a w1; apply: chain_within; auto => o; first by apply: (np o).1.
exact: (np o).2.
Qed.

End PDP.

Section Rounds.
Variables (R : realFieldType) (O : finType).
Implicit Types (P Q : seq O -> O -> R) (past : seq O).

(* Rounds: the output of each is drawn from a law that depends on the past, the list of the outputs before it, the latest first. *)
Fixpoint transcript P past (os : seq O) : R :=
  if os is o :: os' then P past o * transcript P (o :: past) os' else 1.

(* The law of the outputs of n rounds. *)
Definition rounds P past n (os : n.-tuple O) : R := transcript P past os.

(* The product of what the rounds cost along these outputs. *)
Fixpoint cost (E : seq O -> R) past (os : seq O) : R :=
  if os is o :: os' then E past * cost E (o :: past) os' else 1.

Lemma transcript_ge0 P past os : (forall past o, 0 <= P past o) -> 0 <= transcript P past os.
Proof. by move=> p0; elim: os past => [|o os ih] past /=; rewrite ?ler01 ?mulr_ge0. Qed.

(* A sum over all tuples, one entry at a time. *)
Lemma big_tuple_cons n (f : seq O -> R) :
  \sum_(t : n.+1.-tuple O) f t = \sum_(o : O) \sum_(t : n.-tuple O) f (o :: t).
Proof.
rewrite pair_bigA /=.
rewrite (reindex (fun ot : O * n.-tuple O => [tuple of ot.1 :: ot.2])) //=.
exists (fun t : n.+1.-tuple O => (thead t, [tuple of behead t])) => [[o t] _|t _] /=.
  by congr pair; apply: val_inj.
by rewrite [in RHS](tuple_eta t).
Qed.

Lemma big_tuple_nil (f : seq O -> R) : \sum_(t : 0.-tuple O) f t = f [::].
Proof.
rewrite (big_pred1 [tuple]) // => t /=; by apply/esym/eqP; rewrite tuple0.
Qed.

Theorem rounds_law P n past : (forall past, is_law (P past)) -> is_law (@rounds P past n).
Proof.
move=> l; split=> [t|]; first by apply: transcript_ge0 => past' o; case: (l past').
elim: n past => [|n ih] past; first by rewrite /rounds (big_tuple_nil (transcript P past)).
rewrite /rounds (big_tuple_cons _ (transcript P past)) /=; case: (l past) => _ <-.
by apply: eq_bigr => o _; rewrite -mulr_sumr ih mulr1.
Qed.

(* Rounds against rounds: the factors along a transcript multiply. E may depend on the past. *)
Theorem transcript_within P Q E past os :
  (forall past o, 0 <= P past o) -> (forall past o, 0 <= Q past o) -> (forall past, 0 <= E past) ->
  (forall past, within (E past) (P past) (Q past)) ->
  transcript P past os <= cost E past os * transcript Q past os.
Proof.
move=> p0 q0 e0 h; elim: os past => [|o os ih] past /=; first by rewrite mulr1.
rewrite mulrACA; apply: ler_pmul; rewrite ?transcript_ge0 //; exact: h.
Qed.

Lemma cost_ge0 (E : seq O -> R) past os : (forall past, 0 <= E past) -> 0 <= cost E past os.
Proof. by move=> e0; elim: os past => [|o os ih] past /=; rewrite ?ler01 ?mulr_ge0. Qed.

(* n rounds against n rounds: B bounds what they cost together, whatever the outputs are. *)
Theorem rounds_within P Q E B n :
  (forall past o, 0 <= P past o) -> (forall past o, 0 <= Q past o) -> (forall past, 0 <= E past) ->
  (forall past, within (E past) (P past) (Q past)) -> (forall os, size os = n -> cost E [::] os <= B) ->
  within B (@rounds P [::] n) (@rounds Q [::] n).
Proof.
move=> p0 q0 e0 h b t; apply: le_trans (transcript_within _ _ p0 q0 e0 h) _.
by rewrite ler_wpmul2r ?transcript_ge0 // b ?size_tuple.
Qed.

Lemma cost_bound (E : seq O -> R) (B : nat -> R) past os :
  (forall past, 0 <= E past <= B (size past)) ->
  cost E past os <= \prod_(i < size os) B (size past + i)%N.
Proof.
move=> h; elim: os past => [|o os ih] past /=; first by rewrite big_ord0.
rewrite big_ord_recl addn0; apply: ler_pmul; [by case/andP: (h past)| |by case/andP: (h past)|].
  by apply: cost_ge0 => past'; case/andP: (h past').
apply: le_trans (ih _) _; rewrite (eq_bigr (fun i : 'I__ => B (size past + i.+1)%N)) // => i _.
by rewrite /= addSnnS.
Qed.

End Rounds.

Section NFold.
Variables (R : realFieldType) (X O : finType).

(* n rounds on the same data; the mechanism of a round, M past, is chosen from the outputs before it. *)
Definition run n (M : seq O -> wdata R X -> O -> R) (D : wdata R X) : n.-tuple O -> R :=
  @rounds _ _ (fun past => M past D) [::] n.

(* n-fold adaptive composition: the i-th round has the profile E i whatever came before, and the whole their sum. *)
Theorem pdp_composition_n n (M : seq O -> wdata R X -> O -> R) (E : nat -> R -> X -> R) :
  (forall past, mechanism (M past)) -> (forall i w x, 1 <= w -> 0 <= E i w x) ->
  (forall past, pdp (M past) (E (size past))) ->
  pdp (run (n := n) M) (fun w x => \prod_(i < n) E i w x).
Proof.
move=> m e0 h; have m0 past D o : 0 <= M past D o by case: (m past D).
have c w x os : 1 <= w -> size os = n ->
    cost (fun past : seq O => E (size past) w x) [::] os <= \prod_(i < n) E i w x.
  move=> w1 <-; apply: le_trans (@cost_bound _ _ _ (fun i => E i w x) _ _ _) _ => // past.
  by rewrite e0 // lexx.
split=> D x w a w1; apply: (@rounds_within _ _ _ _ (fun past => E (size past) w x)); auto=> past.
  exact: (h past).1.
exact: (h past).2.
Qed.

End NFold.

Section Parallel.
Variables (R : realFieldType) (X O J : finType).

(* The records of the cluster j, where c is the public assignment of records to clusters. *)
Definition cluster (c : X -> J) (D : wdata R X) j : wdata R X := [ffun x => if c x == j then D x else None].

(* One mechanism for each cluster; they draw independently. *)
Definition parallel (c : X -> J) (M : J -> wdata R X -> O -> R) (D : wdata R X) : {ffun J -> O} -> R :=
  fun o => \prod_j M j (cluster c D j) (o j).

Theorem parallel_law c M : (forall j, mechanism (M j)) -> mechanism (parallel c M).
Proof.
move=> m D; split=> [o|]; first by apply: prodr_ge0 => j _; case: (m j (cluster c D j)).
rewrite -(bigA_distr_bigA (fun j o => M j (cluster c D j) o)) /= big1 // => j _.
by case: (m j (cluster c D j)).
Qed.

Lemma cluster_put c D x w j :
  cluster c (put D x w) j = if c x == j then put (cluster c D j) x w else cluster c D j.
Proof.
by apply/ffunP=> y; case: ifP => h; rewrite !ffunE; case: (eqVneq y x) => [->|_]; rewrite ?h.
Qed.

(* A record is in one cluster, and costs what it costs there. *)
Theorem parallel_composition c M (E : J -> R -> X -> R) : (forall j, mechanism (M j)) ->
  (forall j, pdp (M j) (E j)) -> pdp (parallel c M) (fun w x => E (c x) w x).
Proof.
move=> m h; have m0 j D o : 0 <= M j D o by case: (m j D).
split=> D x w a w1 o; rewrite /parallel (bigD1 (c x)) //= [X in _ <= _ * X](bigD1 (c x)) //= mulrA.
all: have r : \prod_(j | j != c x) M j (cluster c (put D x w) j) (o j) = \prod_(j | j != c x) M j (cluster c D j) (o j)
  by apply: eq_bigr => j; rewrite eq_sym cluster_put => /negbTE ->.
all: rewrite r ler_wpmul2r ?prodr_ge0 // cluster_put eqxx.
  by apply: (h _).1; rewrite // ffunE eqxx.
by apply: (h _).2; rewrite // ffunE eqxx.
Qed.

(* DP-Lloyd (Proposition 13): in each of n rounds the centers, a function of the outputs before, assign records to clusters, and every
   cluster releases something with the profile E. Together n times the loss of one cluster in one round, not n times the number of clusters. *)
Theorem lloyd n (c : seq {ffun J -> O} -> X -> J) (M : seq {ffun J -> O} -> J -> wdata R X -> O -> R) (E : R -> X -> R) :
  (forall past j, mechanism (M past j)) -> (forall w x, 1 <= w -> 0 <= E w x) -> (forall past j, pdp (M past j) E) ->
  pdp (run (n := n) (fun past => parallel (c past) (M past))) (fun w x => E w x ^+ n).
Proof.
move=> m e0 h.
have [|i w x w1|past|hp hm] := @pdp_composition_n _ _ _ n (fun past => parallel (c past) (M past)) (fun _ => E).
- by move=> past; apply: parallel_law.
- exact: e0.
- by apply: (parallel_composition (c past) (E := fun _ => E)).
by split=> D x w a w1; [have := hp D x w a w1|have := hm D x w a w1]; rewrite prodr_const card_ord.
Qed.

End Parallel.
