(* The definitions, evaluated: twins of them that compute with fractions, and proofs that the value of a twin is the value of the definition.

   tests/formal writes a file with small instances, evaluates the twins in Coq by vm_compute, and compares the fractions with those that
   proofs_check/exact enumerates. val x is the fraction x of Coq's library as a number of the field R. *)
From Coq Require Import ZArith QArith Qreduction.
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ssrZ zify ring.
From PDP Require Import laws composition sampling lists filter approximate renyi.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition q0 : Q := Qmake Z0 xH.
Definition q1 : Q := Qmake (Zpos xH) xH.
Definition q2 : Q := Qmake (Zpos (xO xH)) xH.
Definition qadd (x y : Q) := Qred (Qplus x y).
Definition qsub (x y : Q) := Qred (Qminus x y).
Definition qmul (x y : Q) := Qred (Qmult x y).
Definition qdiv (x y : Q) := Qred (Qmult x (Qinv y)).
Definition qsum (s : seq Q) := foldr qadd q0 s.
Fixpoint qpow (x : Q) k := if k is k'.+1 then qmul x (qpow x k') else q1.

Section Values.
Variable R : realFieldType.

Definition whole (z : Z) : R := (int_of_Z z)%:~R.
Definition val (x : Q) : R := whole (Qnum x) / whole (Zpos (Qden x)).

Lemma whole_add x y : whole (Z.add x y) = whole x + whole y.
Proof. by rewrite /whole -intrD; congr (_%:~R); lia. Qed.
Lemma whole_mul x y : whole (Z.mul x y) = whole x * whole y.
Proof. by rewrite /whole -intrM; congr (_%:~R); lia. Qed.
Lemma whole_opp x : whole (Z.opp x) = - whole x.
Proof. by rewrite /whole -mulrNz; congr (_%:~R); lia. Qed.
Lemma whole_le x y : Z.leb x y = (whole x <= whole y).
Proof. by rewrite /whole ler_int; lia. Qed.
Lemma whole_gt0 p : 0 < whole (Zpos p).
Proof. by rewrite /whole ltr0z; lia. Qed.
Lemma whole_n0 p : whole (Zpos p) != 0.
Proof. by rewrite gt_eqF ?whole_gt0. Qed.

Lemma val_eq x y : Qeq x y -> val x = val y.
Proof.
rewrite /Qeq /val => e; apply/eqP; rewrite eqr_div ?whole_n0 // -!whole_mul; apply/eqP; congr whole.
by rewrite e Z.mul_comm.
Qed.

Lemma val0 : val q0 = 0.
Proof. by rewrite /val (_ : whole (Qnum q0) = 0) ?mul0r. Qed.
Lemma val1 : val q1 = 1.
Proof. by rewrite /val /q1 /= divff ?whole_n0. Qed.
Lemma val2 : val q2 = 2%:R.
Proof. by rewrite /val /q2 /= (_ : whole (Zpos xH) = 1) ?divr1. Qed.
Lemma val_add x y : val (qadd x y) = val x + val y.
Proof.
rewrite (val_eq (Qred_correct _)) /val /= Pos2Z.inj_mul whole_add !whole_mul.
by field; rewrite !whole_n0.
Qed.
Lemma val_opp x : val (Qopp x) = - val x.
Proof. by rewrite /val /= whole_opp mulNr. Qed.
Lemma val_sub x y : val (qsub x y) = val x - val y.
Proof. by rewrite -val_opp -val_add. Qed.
Lemma val_mul x y : val (qmul x y) = val x * val y.
Proof. by rewrite (val_eq (Qred_correct _)) /val /= Pos2Z.inj_mul !whole_mul; field; rewrite !whole_n0. Qed.
Lemma val_inv x : val (Qinv x) = (val x)^-1.
Proof.
case: x => [[|p|p] d]; rewrite /val /Qinv /=; first by rewrite !mul0r invr0.
  by rewrite invf_div.
have -> : whole (Zneg d) = - whole (Zpos d) by rewrite -whole_opp.
have -> : whole (Zneg p) = - whole (Zpos p) by rewrite -whole_opp.
by rewrite invf_div invrN mulrN mulNr.
Qed.
Lemma val_div x y : val (qdiv x y) = val x / val y.
Proof. by rewrite -val_inv -val_mul. Qed.
Lemma val_pow x k : val (qpow x k) = val x ^+ k.
Proof. by elim: k => [|k ih] /=; rewrite ?val1 // val_mul ih exprS. Qed.
Lemma val_le x y : Qle_bool x y = (val x <= val y).
Proof.
rewrite /Qle_bool whole_le !whole_mul /val ler_pdivr_mulr ?whole_gt0 // mulrAC ler_pdivl_mulr ?whole_gt0 //.
Qed.

(* Two laws given by their tables, and a sum over their outputs. *)
Definition table (ps : seq Q) n (i : 'I_n) : R := val (nth q0 ps i).

Lemma sum_tables (f : Q -> Q -> Q) (F : R -> R -> R) ps qs : (forall x y, val (f x y) = F (val x) (val y)) -> size qs = size ps ->
  \sum_(i < size ps) F (table ps i) (table qs i) = val (qsum (map (fun xy => f xy.1 xy.2) (zip ps qs))).
Proof.
move=> h; rewrite /table; elim: ps qs => [|p ps ih] [|q qs] //=; first by rewrite big_ord0 val0.
by case=> e; rewrite big_ord_recl val_add h ih.
Qed.

(* The hockey-stick divergence, and the moment of order k. *)
Definition hsQ (a : Q) ps qs := qsum (map (fun xy => let d := qsub xy.1 (qmul a xy.2) in if Qle_bool q0 d then d else q0) (zip ps qs)).
Definition momentQ k ps qs := qsum (map (fun xy => qmul xy.2 (qpow (qdiv xy.1 xy.2) k)) (zip ps qs)).

Theorem evaluated_hs a ps qs : size qs = size ps -> hs (val a) (@table ps (size ps)) (@table qs (size ps)) = val (hsQ a ps qs).
Proof.
move=> e; apply: (sum_tables (f := fun x y => let d := qsub x (qmul a y) in if Qle_bool q0 d then d else q0) (F := fun x y => pos (x - val a * y))) => // x y.
by rewrite /pos /= val_le val0 val_sub val_mul; case: ifP => _; rewrite ?val0 // val_sub val_mul.
Qed.

Theorem evaluated_moment k ps qs : size qs = size ps -> moment k (@table ps (size ps)) (@table qs (size ps)) = val (momentQ k ps qs).
Proof.
move=> e; apply: (sum_tables (f := fun x y => qmul y (qpow (qdiv x y) k)) (F := fun x y => y * (x / y) ^+ k)) => // x y.
by rewrite val_mul val_pow val_div.
Qed.

(* The Poisson importance sample of a list of records that have names, and the mechanism that answers yes with probability (1 + W)/(2 + W), where
   W is the total weight. *)
Fixpoint list_importanceQ (q : nat -> Q) (M : seq (nat * Q) -> bool -> Q) (s : seq nat) : bool -> Q :=
  if s is x :: s' then fun o =>
    qadd (qmul (qsub q1 (q x)) (list_importanceQ q M s' o)) (qmul (q x) (list_importanceQ q (fun r => M ((x, qdiv q1 (q x)) :: r)) s' o))
  else M [::].

Definition by_weight (r : seq (nat * R)) (yes : bool) : R :=
  let W := \sum_(xw <- r) xw.2 in if yes then (1 + W) / (2%:R + W) else (2%:R + W)^-1.
Definition by_weightQ (r : seq (nat * Q)) (yes : bool) : Q :=
  let W := qsum (map snd r) in if yes then qdiv (qadd q1 W) (qadd q2 W) else qdiv q1 (qadd q2 W).

Definition valued (xw : nat * Q) := (xw.1, val xw.2).

Lemma evaluated_list (M : seq (nat * R) -> bool -> R) MQ q s o : (forall r o, M (map valued r) o = val (MQ r o)) ->
  list_importance (fun x => val (q x)) M s o = val (list_importanceQ q MQ s o).
Proof.
elim: s M MQ => [|x s ih] M MQ h /=; first exact: (h [::]).
rewrite val_add !val_mul val_sub val1 (ih M MQ) // (ih _ (fun r => MQ ((x, qdiv q1 (q x)) :: r))) // => r o'.
by rewrite -h /= /valued /= val_div val1 mul1r.
Qed.

Theorem evaluated_importance q s o :
  list_importance (fun x => val (q x)) by_weight s o = val (list_importanceQ q by_weightQ s o).
Proof.
apply: evaluated_list => r yes; rewrite /by_weight /by_weightQ.
have -> : \sum_(xw <- map valued r) xw.2 = val (qsum (map snd r)).
  by rewrite big_map; elim: r => [|[x w] r ih]; rewrite ?big_nil ?big_cons /= ?val0 // val_add ih.
rewrite -val2 -val1.
by case: yes; rewrite val_div !val_add // val1 mul1r.
Qed.

(* The factors of the sampled profile. *)
Definition psi_plusQ (q E : Q) := qadd q1 (qmul q (qsub E q1)).
Definition psi_minusQ (q E : Q) := qdiv q1 (qsub q1 (qmul q (qsub q1 (qdiv q1 E)))).

Theorem evaluated_psi (X : finType) (q : Q) (E : R -> X -> R) (e : Q) x : E (val q)^-1 x = val e ->
  psi_plus (fun _ => val q) E x = val (psi_plusQ q e) /\ psi_minus (fun _ => val q) E x = val (psi_minusQ q e).
Proof.
move=> h; rewrite /psi_plus /psi_minus h /psi_plusQ /psi_minusQ.
by rewrite val_add val_mul val_sub val_div !val_sub val_mul val_sub val_div val1 !mul1r.
Qed.

(* The filter for one unit: rounds that have the law A where it takes part, and A' where not. *)
Fixpoint spentQ (O : Type) (c : seq O -> Q) (B : Q) (past : seq O) : Q :=
  if past is o :: before then
    let s := spentQ c B before in let s' := qmul s (c before) in if Qle_bool s' B then s' else s
  else q1.
Definition activeQ (O : Type) (c : seq O -> Q) B past := Qle_bool (qmul (spentQ c B past) (c past)) B.
Fixpoint transcriptQ (O : Type) (P : seq O -> O -> Q) past (os : seq O) : Q :=
  if os is o :: os' then qmul (P past o) (transcriptQ P (o :: past) os') else q1.

Lemma evaluated_spent (O : finType) (c : seq O -> Q) B past : spent (fun past => val (c past)) (val B) past = val (spentQ c B past).
Proof. by elim: past => [|o past ih] /=; rewrite ?val1 // ih -val_mul -val_le; case: ifP. Qed.

Theorem evaluated_filter (O : finType) (c : seq O -> Q) B (A A' : seq O -> O -> Q) n (t : n.-tuple O) (here : bool) :
  let M past (S : {set unit}) o := val (if tt \in S then A past o else A' past o) in
  filtered M (fun _ => active (fun past => val (c past)) (val B)) (if here then [set tt] else set0) t =
  val (transcriptQ (fun past o => if here && activeQ c B past then A past o else A' past o) [::] t).
Proof.
move=> M; rewrite /filtered /rounds; elim: (tval t) [::] => [|o os ih] past /=; first by rewrite val1.
rewrite val_mul -ih; congr (_ * _); rewrite /M inE /active evaluated_spent -val_mul -val_le /activeQ.
by case: here {ih}; rewrite !inE.
Qed.

End Values.
