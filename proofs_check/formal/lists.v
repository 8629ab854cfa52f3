(* Lists of records of any type lose nothing by being stated for finite functions: the records of a list are its positions.

   A weighted data set of laws.v says of each of finitely many names whether it is there and with which weight. Programs have lists of weighted
   records instead, of any type, in which a record may stand more than once; neighbors are lists one of which has an entry more, anywhere. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import ring.
From PDP Require Import laws composition sampling.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Lists.
Variables (R : realFieldType) (T : Type) (O : finType).
Implicit Types (M : seq (T * R) -> O -> R) (E : R -> T -> R) (q : T -> R).

(* The weighted records that the data set D has of the list t, in their order. *)
Definition listed n (t : n.-tuple T) (D : wdata R [finType of 'I_n]) : seq (T * R) :=
  pmap (fun i => omap (pair (tnth t i)) (D i)) (enum 'I_n).
Definition on_positions M n (t : n.-tuple T) (D : wdata R [finType of 'I_n]) : O -> R := M (listed t D).

Definition list_pdp M E := forall s s' x w, 1 <= w ->
  within (E w x) (M (s ++ (x, w) :: s')) (M (s ++ s')) /\ within (E w x) (M (s ++ s')) (M (s ++ (x, w) :: s')).

Lemma pmap_in (I : eqType) (A : Type) (f g : I -> option A) (s : seq I) : {in s, f =1 g} -> pmap f s = pmap g s.
Proof.
elim: s => //= i s ih h; rewrite (h i) ?mem_head // ih // => j js.
by apply: h; rewrite in_cons js orbT.
Qed.

Lemma pmap_all (I : eqType) (A : Type) (f : I -> option A) (g : I -> A) (s : seq I) : {in s, forall i, f i = Some (g i)} -> pmap f s = map g s.
Proof. by move=> h; rewrite (@pmap_in _ _ f (fun i => Some (g i))) //; elim: s {h} => //= i s ->. Qed.

Lemma pmap_of (I J : Type) (A : Type) (f : J -> option A) (h : I -> J) (s : seq I) : pmap (fun i => f (h i)) s = pmap f (map h s).
Proof. by elim: s => //= i s ->. Qed.

(* To put the record i into the data set is to put it into the list, at its place. *)
Lemma listed_put n (t : n.-tuple T) (D : wdata R [finType of 'I_n]) i w : D i = None ->
  exists s s', listed t (put D i w) = s ++ (tnth t i, w) :: s' /\ listed t D = s ++ s'.
Proof.
move=> a; have [p1 [p2 e]] : exists p1 p2, enum 'I_n = p1 ++ i :: p2.
  by have : i \in enum 'I_n by [rewrite mem_enum]; case/splitPr => p1 p2; exists p1, p2.
have := enum_uniq 'I_n; rewrite e cat_uniq /= => /and3P[_ i1 /andP[i2 _]].
pose f (D : wdata R [finType of 'I_n]) j := omap (pair (tnth t j)) (D j).
have out p : i \notin p -> pmap (f (put D i w)) p = pmap (f D) p.
  move=> ip; apply: pmap_in => j jp; rewrite /f ffunE; case: eqP => // ji.
  by rewrite -ji jp in ip.
exists (pmap (f D) p1), (pmap (f D) p2); rewrite /listed e !pmap_cat /= ffunE eqxx a /= -/(f _) !out //.
by move: i1; rewrite negb_or => /andP[].
Qed.

(* Every list with one entry that may be left out is of that form. *)
Lemma listed_lists (s s' : seq (T * R)) x w : exists n (t : n.-tuple T) (D : wdata R [finType of 'I_n]) i,
  [/\ tnth t i = x, D i = None, listed t (put D i w) = s ++ (x, w) :: s' & listed t D = s ++ s'].
Proof.
pose l := s ++ (x, w) :: s'; have lt : (size s < size l)%N by rewrite size_cat /= addnS ltnS leq_addr.
pose t : (size l).-tuple T := map_tuple fst (in_tuple l); pose i := Ordinal lt.
pose D : wdata R [finType of 'I_(size l)] := [ffun j => if j == i then None else Some (nth (x, w) l j).2].
have tE j : tnth t j = (nth (x, w) l j).1 by rewrite (tnth_nth x) /= (nth_map (x, w)).
have at_i : nth (x, w) l (size s) = (x, w) by rewrite nth_cat ltnn subnn.
pose g (b : bool) j := if b && (j == size s) then None else Some (nth (x, w) l j).
have L b : pmap (fun j : 'I_(size l) => g b j) (enum 'I_(size l)) = pmap (g b) (iota 0 (size l)).
  by rewrite (pmap_of (g b) (@nat_of_ord _)) val_enum_ord.
have parts : iota 0 (size l) = iota 0 (size s) ++ size s :: iota (size s).+1 (size s').
  by rewrite size_cat /= iotaD add0n.
have before b : pmap (g b) (iota 0 (size s)) = s.
  rewrite (@pmap_all _ _ _ (nth (x, w) s)) => [|j]; first exact: mkseq_nth.
  by rewrite mem_iota add0n => /andP[_ js]; rewrite /g (ltn_eqF js) andbF nth_cat js.
have after b : pmap (g b) (iota (size s).+1 (size s')) = s'.
  rewrite -[(size s).+1]addn0 iotaDl -pmap_of (@pmap_all _ _ _ (nth (x, w) s')) => [|j _]; first exact: mkseq_nth.
  by rewrite /g addSn gtn_eqF ?ltnS ?leq_addr // andbF nth_cat ltnNge leqW ?leq_addr //= subSn ?leq_addr // addKn.
exists (size l), t, D, i; split; first by rewrite tE /= at_i.
- by rewrite ffunE eqxx.
- transitivity (pmap (g false) (iota 0 (size l))); last by rewrite parts pmap_cat /= before after /= at_i.
  rewrite -L /listed; apply: pmap_in => j _; rewrite !ffunE /g tE -val_eqE /=.
  by case: eqP => [->|_]; rewrite ?at_i //=; case: (nth _ _ _).
transitivity (pmap (g true) (iota 0 (size l))); last by rewrite parts pmap_cat /= before after /= /g eqxx.
rewrite -L /listed; apply: pmap_in => j _; rewrite !ffunE /g tE -val_eqE /=.
by case: eqP => [->|_] //=; case: (nth _ _ _).
Qed.

(* A mechanism on lists has a profile if and only if, for every list of records, the mechanism that it is on the positions of the list has it. *)
Theorem lists_lose_nothing M E :
  list_pdp M E <-> forall n (t : n.-tuple T), pdp (on_positions M t) (fun w i => E w (tnth t i)).
Proof.
split=> [h n t|h s s' x w w1].
  by split=> D i w a w1; have [s [s' [e e']]] := listed_put t w a; rewrite /on_positions e e'; case: (h s s' (tnth t i) w w1).
have [n [t [D [i [ti a e e']]]]] := listed_lists s s' x w.
by have [hp hm] := h n t; have := hp D i w a w1; have := hm D i w a w1; rewrite /on_positions e e' ti.
Qed.

(* The Poisson sample of a list, as programs draw it: the records one after the other, each kept by a coin of its own, with the weight 1/q. *)
Fixpoint list_importance q M (s : seq T) : O -> R :=
  if s is x :: s' then fun o =>
    (1 - q x) * list_importance q M s' o + q x * list_importance q (fun r => M ((x, (q x)^-1) :: r)) s' o
  else M [::].

Lemma eq_list_importance q M M' s : (forall r, M r =1 M' r) -> list_importance q M s =1 list_importance q M' s.
Proof.
elim: s M M' => [|x s ih] M M' h o /=; first exact: h.
by congr (_ * _ + _ * _); apply: ih => // r; apply: h.
Qed.

(* It is the importance sampling of the data set of all positions of the list. *)
Theorem list_importanceE q M n (t : n.-tuple T) :
  importance (fun i => q (tnth t i)) (on_positions M t) [set: 'I_n] =1 list_importance q M t.
Proof.
move=> o; pose w i := (q (tnth t i))^-1; pose pick (S : {set 'I_n}) p := [seq (tnth t i, w i) | i <- p & i \in S].
have pickE (S : {set 'I_n}) : listed t (weigh w S) = pick S (enum 'I_n).
  rewrite /listed /pick; elim: (enum _) => //= i p ->; rewrite ffunE.
  by case: ifP.
have all : [set: 'I_n] = [set i in enum 'I_n] by apply/setP=> i; rewrite !inE mem_enum.
have te : tval t = map (tnth t) (enum 'I_n) by rewrite map_tnth_enum.
rewrite /importance te all.
have -> : sampled (fun i => q (tnth t i)) (fun S => on_positions M t (weigh w S)) [set i in enum 'I_n] o =
    sampled (fun i => q (tnth t i)) (fun S => M (pick S (enum 'I_n))) [set i in enum 'I_n] o.
  by apply: eq_bigr => S _; rewrite /on_positions pickE.
elim: (enum 'I_n) (enum_uniq 'I_n) M => [_|i p ih /= /andP[ip up]] M.
  have -> : [set i in [::]] = set0 :> {set 'I_n} by apply/setP=> i; rewrite !inE.
  by rewrite sampled0.
have -> : [set j in i :: p] = i |: [set j in p] by apply/setP=> j; rewrite !inE.
rewrite sampled_split ?inE //; congr (_ * _ + _ * _); rewrite -ih //; apply: eq_bigr => S sp; congr (_ * M _ o); rewrite /pick /=.
  by case: ifP => // iS; have := subsetP sp _ iS; rewrite inE (negbTE ip).
rewrite setU11 /=; congr (_ :: map _ _); apply: eq_in_filter => j jp; rewrite !inE.
by case: eqP => // ji; rewrite -ji jp in ip.
Qed.

Lemma list_importance_le q M M' c s : (forall x, 0 <= q x <= 1) -> (forall r, within c (M r) (M' r)) ->
  within c (list_importance q M s) (list_importance q M' s).
Proof.
move=> q01; elim: s M M' => [|x s ih] M M' h o /=; first exact: h.
have /andP[q0 q1] := q01 x; rewrite mulrDr; apply: ler_add; rewrite mulrCA ler_wpmul2l ?subr_ge0 //; apply: ih => // r; exact: h.
Qed.

(* Amplification for lists, in both directions: the record x, anywhere in the list, costs the sampled profile. *)
Theorem list_amplification q M E s s' x : (forall x, 0 < q x <= 1) -> (forall w x, 1 <= w -> 1 <= E w x) -> list_pdp M E ->
  within (1 + q x * (E (q x)^-1 x - 1)) (list_importance q M (s ++ x :: s')) (list_importance q M (s ++ s')) /\
  within (1 - q x * (1 - (E (q x)^-1 x)^-1))^-1 (list_importance q M (s ++ s')) (list_importance q M (s ++ x :: s')).
Proof.
move=> q01 e1; have q01' y : 0 <= q y <= 1 by case/andP: (q01 y) => /ltW -> ->.
elim: s M => [|y s ih] M h.
  have /andP[q0 q1] := q01 x; have v1 : 1 <= (q x)^-1 by rewrite invf_ge1.
  have E0 : 0 < E (q x)^-1 x by apply: lt_le_trans (e1 _ x v1); rewrite ltr01.
  have up := @list_importance_le q (fun r => M ((x, (q x)^-1) :: r)) M _ s' q01' (fun r => (h [::] r x _ v1).1).
  have down := @list_importance_le q M (fun r => M ((x, (q x)^-1) :: r)) _ s' q01' (fun r => (h [::] r x _ v1).2).
  split=> o /=; move: (up o) (down o);
    move: (E _ _) E0 (list_importance q M s' o) (list_importance q _ s' o) => e e0 a b le le'.
    have -> : (1 + q x * (e - 1)) * a = (1 - q x) * a + q x * (e * a) by ring.
    by rewrite ler_add2l ler_pmul2l.
  have pos : 0 < 1 - q x * (1 - e^-1).
    have -> : 1 - q x * (1 - e^-1) = (1 - q x) + q x / e by ring.
    by rewrite ltr_paddl ?subr_ge0 ?divr_gt0.
  rewrite mulrC ler_pdivl_mulr //.
  have -> : a * (1 - q x * (1 - e^-1)) = (1 - q x) * a + q x * (a / e) by ring.
  by rewrite ler_add2l ler_pmul2l // ler_pdivr_mulr // mulrC.
have /andP[q0 q1] := q01' y.
have [up down] := ih M h; have [|up' down'] := ih (fun r => M ((y, (q y)^-1) :: r)).
  by move=> r r' z w w1; apply: (h ((y, (q y)^-1) :: r)).
by split=> o /=; rewrite mulrDr; apply: ler_add; rewrite mulrCA ler_wpmul2l ?subr_ge0.
Qed.

End Lists.
