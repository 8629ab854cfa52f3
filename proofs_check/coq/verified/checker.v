(* The checker: proofs as data, a function that says whether one proves a goal, and the theorem that it is right.
   A goal is a term, a box, and whether it is strict: the term is >= 0 (> 0) at every point of the box. *)
From Coq Require Import Reals ZArith List Bool PeanoNat Lra Lia.
From Coquelicot Require Import Coquelicot.
From PDPVerified Require Import terms enclosures signs fields.
Import ListNotations.
Open Scope R_scope.

(* Why two terms are equal where the left one is defined. *)
Inductive reason : Set :=
| ByField                (* as fractions of polynomials *)
| ByExponents            (* exp a = s: a is the logarithm of s, which is a product *)
| ByLogarithms (s : expr) (* ln a = t: a is the product s, and t its logarithm *)
| ByRoot.                (* sqrt a = s: s >= 0 and a is s times s *)

(* The proofs. *)
Inductive proof : Set :=
| Sign                                                      (* sums and products of what has a sign ("manifest") *)
| Enclose (prec : positive) (depth : nat)                   (* an enclosure, after so many bisections ("boxes") *)
| Split (v : nat) (at_ : Z * positive) (below above : proof)
| Scale (factor : expr) (positive product : proof)
| Sum (strict_left strict_right : bool) (of_left of_right : proof) (* of a term that is a sum *)
| Rewrite (t : expr) (rest : proof)                         (* the term equals t *)
| Positive (s : expr) (shown rest : proof)                  (* s > 0 is known in the rest *)
| Equal (s t : expr) (why : reason) (rest : proof)          (* s may be replaced by t in equations of the rest *)
| Monotone (v : nat) (rising : bool) (slope : expr) (of_slope at_end : proof)
| General (a : expr) (values : range) (lower upper : proof) (general : expr) (rest : proof)
| ExpTangent (m : expr)                                     (* the term is exp m - 1 - m *)
| Times (of_left of_right : proof)                          (* of a term that is a product of two that are >= 0 *)
| First (one other : proof)                                 (* one of the two *)
| LnTangent (a : expr).                                     (* the term is a - 1 - ln a *)

Record facts := Facts { positives : list expr; equations : list (expr * expr) }.

Definition minus (s t : expr) : expr := Add s (Mul (Num (-1) 1) t).

(* Left sides of known equations replaced, from the outside. *)
Fixpoint find (t : expr) (known : list (expr * expr)) : option expr :=
  match known with [] => None | (s, s') :: rest => if expr_eqb s t then Some s' else find t rest end.
Fixpoint replaced (known : list (expr * expr)) (t : expr) : expr :=
  match find t known with
  | Some s => s
  | None =>
    match t with
    | Num _ _ | Var _ => t
    | Add a b => Add (replaced known a) (replaced known b)
    | Mul a b => Mul (replaced known a) (replaced known b)
    | Inv a => Inv (replaced known a)
    | Pow a n => Pow (replaced known a) n
    | Exp a => Exp (replaced known a)
    | Ln a => Ln (replaced known a)
    | Sqrt a => Sqrt (replaced known a)
    end
  end.
Definition same (f : facts) (s t : expr) : bool := equal (replaced (equations f) s) (replaced (equations f) t).

(* The logarithm of a product of what is > 0. *)
Fixpoint logarithm (t : expr) : expr :=
  match t with
  | Num 1 1 => Num 0 1
  | Exp a => a
  | Mul a b => Add (logarithm a) (logarithm b)
  | Inv a => Mul (Num (-1) 1) (logarithm a)
  | Pow a n => Mul (Num (Z.of_nat n) 1) (logarithm a)
  | _ => Ln t
  end.

Section Check.
Variable prec : F.precision.

Definition is_shown (f : facts) (b : box) := shown prec b (map (hull prec) b) (positives f).
Definition sign_in (f : facts) (b : box) := sign prec b (map (hull prec) b) (positives f).
Definition enough (strict : bool) (s : nat) : bool := match s with O => false | 1%nat => negb strict | _ => true end.

(* The factors of a product of which the logarithm is taken are > 0. *)
Fixpoint is_product (f : facts) (b : box) (t : expr) : bool :=
  match t with
  | Num 1 1 => true
  | Exp _ => true
  | Mul x y => is_product f b x && is_product f b y
  | Inv x | Pow x _ => is_product f b x
  | _ => Nat.eqb (sign_in f b t) 2
  end.

Definition is_reason (f : facts) (b : box) (s t : expr) (why : reason) : bool :=
  is_shown f b t &&
  match why, s with
  | ByField, _ => same f s t
  | ByExponents, Exp a => is_product f b t && is_shown f b (logarithm t) && same f a (logarithm t)
  | ByLogarithms u, Ln a => is_shown f b u && is_product f b u && is_shown f b (logarithm u) && same f a u && same f t (logarithm u)
  | ByRoot, Sqrt a => negb (Nat.eqb (sign_in f b t) 0) && same f a (Mul t t)
  | _, _ => false
  end.

Definition set_nth (b : box) (v : nat) (r : range) : box := firstn v b ++ r :: skipn (S v) b.

(* Where a range is cut in two: its middle, or a point further out. *)
Definition cut (r : range) : Z * positive :=
  let (p, q) := low r in
  match high r with
  | Some (p', q') => ((p * Zpos q' + p' * Zpos q)%Z, (2 * q * q')%positive)
  | None => if (p <? Zpos q)%Z then (1%Z, 1%positive) else ((2 * p)%Z, q)
  end.

Definition halves (b : box) (v : nat) (at_ : Z * positive) : option (box * box) :=
  match nth_error b v with
  | Some r => if (if opened r then rlt (low r) at_ else rle (low r) at_) && match high r with None => true | Some h => rle at_ h end
      then Some (set_nth b v (Range (low r) (opened r) (Some at_)), set_nth b v (Range at_ false (high r))) else None
  | None => None
  end.

(* Bisection of one variable after the other. *)
Fixpoint bisect (p : F.precision) (depth : nat) (v : nat) (b : box) (t : expr) (strict : bool) : bool :=
  if enough strict (sign_of (enclose p (map (hull p) b) t)) then true else
  match depth with
  | O => false
  | S d =>
    match nth_error b v with
    | None => false
    | Some r => match halves b v (cut r) with
        | Some (x, y) => if bisect p d (Nat.modulo (S v) (length b)) x t strict then bisect p d (Nat.modulo (S v) (length b)) y t strict else false
        | None => false end
    end
  end.

Fixpoint check (f : facts) (b : box) (t : expr) (strict : bool) (p : proof) : bool :=
  match p with
  | Sign => enough strict (sign_in f b t)
  | Enclose q depth => bisect (F.PtoP q) depth 0 b t strict
  | Split v c below above =>
      match halves b v c with Some (x, y) => check f x t strict below && check f y t strict above | None => false end
  | Scale s positive product => is_shown f b s && check f b s true positive && check f b (Mul s t) strict product
  | Sum sx sy px py =>
      match t with Add x y => (negb strict || sx || sy) && check f b x sx px && check f b y sy py | _ => false end
  | Rewrite s rest => is_shown f b s && same f t s && check f b s strict rest
  | Positive s shown rest => is_shown f b s && check f b s true shown && check (Facts (s :: positives f) (equations f)) b t strict rest
  | Equal s s' why rest => is_reason f b s s' why && check (Facts (positives f) ((s, s') :: equations f)) b t strict rest
  | Monotone v rising s of_slope at_end =>
      match nth_error b v with
      | None => false
      | Some r =>
        match (if rising then (if opened r then None else Some (low r)) else high r) with
        | None => false
        | Some c =>
          shown_smooth prec b (map (hull prec) b) (positives f) t && is_shown f b s &&
          same f (if rising then diff v t else Mul (Num (-1) 1) (diff v t)) s &&
          rle (low r) c && (negb (opened r) || rlt (low r) c) && match high r with None => true | Some h => rle c h end &&
          check f b s false of_slope && check f b (subst v (Num (fst c) (snd c)) t) strict at_end
        end
      end
  | General a r lower upper g rest =>
      let b' := b ++ [r] in
      is_shown f b a && is_shown f b' g &&
      check f b (minus a (Num (fst (low r)) (snd (low r)))) (opened r) lower &&
      match high r with None => true | Some h => check f b (minus (Num (fst h) (snd h)) a) false upper end &&
      same f t (subst (length b) a g) && check f b' g strict rest
  | Times px py => match t with Mul x y => negb strict && check f b x false px && check f b y false py | _ => false end
  | First one other => if check f b t strict one then true else check f b t strict other
  | ExpTangent m => negb strict && expr_eqb t (Add (Add (Exp m) (Num (-1) 1)) (Mul (Num (-1) 1) m))
  | LnTangent a => negb strict && expr_eqb t (Add (Add a (Num (-1) 1)) (Mul (Num (-1) 1) (Ln a)))
  end.

(* The term is defined on the box, and >= 0 (> 0); what the proof begins with is known for the first as well. *)
Fixpoint proves (f : facts) (b : box) (t : expr) (strict : bool) (p : proof) : bool :=
  match p with
  | Positive s shown rest => is_shown f b s && check f b s true shown && proves (Facts (s :: positives f) (equations f)) b t strict rest
  | First one other => if proves f b t strict one then true else proves f b t strict other
  | _ => is_shown f b t && check f b t strict p
  end.
End Check.

(* The proof that it is right. *)
Definition good (strict : bool) (x : R) : Prop := if strict then 0 < x else 0 <= x.
Definition facts_hold (b : box) (f : facts) : Prop :=
  (forall e, inside b e -> List.Forall (fun t => 0 < eval e t) (positives f)) /\
  (forall e, inside b e -> List.Forall (fun st => defined e (fst st) -> defined e (snd st) /\ eval e (fst st) = eval e (snd st)) (equations f)).
Definition within (x b : box) : Prop := forall e, inside x e -> inside b e.

Lemma facts_within x b f : within x b -> facts_hold b f -> facts_hold x f.
Proof. intros w [p q]; split; intros e i; [apply p | apply q]; apply w, i. Qed.

Lemma good_of_sign strict s x : enough strict s = true -> has_sign s x -> good strict x.
Proof. destruct s as [|[|s]], strict; simpl; intros; try discriminate; lra. Qed.

Section Replaced.
Variable e : env.
Variable known : list (expr * expr).
Hypothesis holds : List.Forall (fun st => defined e (fst st) -> defined e (snd st) /\ eval e (fst st) = eval e (snd st)) known.

Lemma find_correct t s : find t known = Some s -> defined e t -> defined e s /\ eval e t = eval e s.
Proof.
induction holds as [|[a a'] l h hs IH]; simpl; [discriminate|].
destruct (expr_eqb a t) eqn:q; [|exact (IH hs)].
apply expr_eqb_eq in q; subst a; intros k; injection k as <-; exact h.
Qed.

Lemma replaced_correct t : defined e t -> defined e (replaced known t) /\ eval e t = eval e (replaced known t).
Proof.
induction t; intros d; unfold replaced; fold replaced;
  match goal with |- context [find ?u known] => destruct (find u known) as [s|] eqn:found; [exact (find_correct _ _ found d)|] end;
  simpl in *; try tauto.
- destruct (IHt1 (proj1 d)) as [d1 v1], (IHt2 (proj2 d)) as [d2 v2]; rewrite v1, v2; tauto.
- destruct (IHt1 (proj1 d)) as [d1 v1], (IHt2 (proj2 d)) as [d2 v2]; rewrite v1, v2; tauto.
- destruct (IHt (proj1 d)) as [d1 v1]; rewrite <- v1; tauto.
- destruct (IHt d) as [d1 v1]; rewrite <- v1; tauto.
- destruct (IHt d) as [d1 v1]; rewrite <- v1; tauto.
- destruct (IHt (proj1 d)) as [d1 v1]; rewrite <- v1; tauto.
- destruct (IHt (proj1 d)) as [d1 v1]; rewrite <- v1; tauto.
Qed.
End Replaced.

Lemma same_correct b f e s t : facts_hold b f -> inside b e -> same f s t = true -> defined e s -> defined e t -> eval e s = eval e t.
Proof.
intros [_ h] i k ds dt; specialize (h e i).
destruct (replaced_correct e _ h s ds) as [ds' ->], (replaced_correct e _ h t dt) as [dt' ->].
apply equal_correct; assumption.
Qed.

Section Sound.
Variable prec : F.precision.
Notation is_shown := (is_shown prec).
Notation sign_in := (sign_in prec).
Notation check := (check prec).

Lemma is_shown_correct f b t : facts_hold b f -> is_shown f b t = true -> forall e, inside b e -> defined e t.
Proof. intros [p _] h e i; apply (shown_defined prec b _ (positives f) e i eq_refl (p e i) t h). Qed.

Lemma sign_in_correct f b t e : facts_hold b f -> inside b e -> defined e t -> has_sign (sign_in f b t) (eval e t).
Proof. intros [p _] i d; apply (sign_correct prec b _ (positives f) e i eq_refl (p e i) t d). Qed.

Lemma logarithm_correct f b e t : facts_hold b f -> inside b e -> is_product prec f b t = true -> defined e t ->
  0 < eval e t /\ eval e (logarithm t) = ln (eval e t) /\ defined e (logarithm t).
Proof.
intros fh i.
assert (leaf : forall t, Nat.eqb (sign_in f b t) 2 = true -> defined e t ->
  0 < eval e t /\ eval e (Ln t) = ln (eval e t) /\ defined e (Ln t)).
{ intros u h d; apply Nat.eqb_eq in h; pose proof (sign_in_correct f b u e fh i d) as k; rewrite h in k; simpl in *; tauto. }
induction t; intros h d.
- destruct p as [|[p|p|]|p]; try exact (leaf _ h d); destruct q as [q|q|]; try exact (leaf _ h d).
  simpl; unfold ratio; rewrite ln_1; repeat split; lra.
- exact (leaf _ h d).
- exact (leaf _ h d).
- simpl in h; apply andb_true_iff in h as [h1 h2]; destruct d as [d1 d2].
  destruct (IHt1 h1 d1) as (p1 & v1 & l1), (IHt2 h2 d2) as (p2 & v2 & l2); simpl.
  rewrite v1, v2, ln_mult by assumption; repeat split; try assumption; apply Rmult_lt_0_compat; assumption.
- destruct d as [d n]; destruct (IHt h d) as (p & v & l); simpl; rewrite v, ln_Rinv by assumption.
  repeat split; try assumption; [apply Rinv_0_lt_compat, p | unfold ratio; ring].
- destruct (IHt h d) as (p & v & l); simpl; rewrite v.
  split; [apply pow_lt, p | split; [|tauto]]. unfold ratio; rewrite ln_pow by exact p. rewrite INR_IZR_INZ; reflexivity.
- simpl; rewrite ln_exp; repeat split; try assumption; apply exp_pos.
- exact (leaf _ h d).
- exact (leaf _ h d).
Qed.

Lemma reason_correct f b s t why e : facts_hold b f -> is_reason prec f b s t why = true -> inside b e -> defined e s ->
  defined e t /\ eval e s = eval e t.
Proof.
unfold is_reason; intros fh h i ds; apply andb_true_iff in h as [h k].
pose proof (is_shown_correct f b t fh h e i) as dt; split; [exact dt|].
destruct why; [apply (same_correct b f e); assumption| | |]; destruct s; try discriminate; rewrite ?andb_true_iff in k.
- destruct k as [[p l] q]; destruct (logarithm_correct f b e t fh i p dt) as (pos & v & d).
  simpl; simpl in ds; rewrite (same_correct b f e _ _ fh i q ds d), v; apply exp_ln, pos.
- destruct k as [[[[u p] l] q] r]; simpl; destruct ds as [ds _].
  pose proof (is_shown_correct f b _ fh u e i) as du.
  destruct (logarithm_correct f b e s0 fh i p du) as (pos & v & d).
  rewrite (same_correct b f e _ _ fh i q ds du), (same_correct b f e _ _ fh i r dt d); symmetry; exact v.
- destruct k as [n q]; destruct ds as [ds _]; simpl.
  assert (d : defined e (Mul t t)) by (simpl; tauto).
  rewrite (same_correct b f e _ _ fh i q ds d); simpl.
  apply sqrt_square; pose proof (sign_in_correct f b t e fh i dt) as g.
  destruct (sign_in f b t) as [|[|m]]; simpl in *; [discriminate | exact g | lra].
Qed.

Lemma nth_set_nth b v r i : (v < length b)%nat -> nth_error (set_nth b v r) i = if Nat.eqb i v then Some r else nth_error b i.
Proof.
intros h; unfold set_nth.
destruct (Nat.eqb_spec i v) as [->|n].
- rewrite nth_error_app2, firstn_length_le by (rewrite ?firstn_length_le; lia). rewrite Nat.sub_diag; reflexivity.
- destruct (Nat.lt_ge_cases i v).
  + rewrite nth_error_app1 by (rewrite firstn_length_le; lia).
    clear - H; revert b i H; induction v; intros b i H; [lia|]; destruct b; [destruct i; reflexivity|]; destruct i; [reflexivity|]; simpl; apply IHv; lia.
  + rewrite nth_error_app2, firstn_length_le by (rewrite ?firstn_length_le; lia).
    replace (i - v)%nat with (S (i - S v)) by lia; change (nth_error (r :: skipn (S v) b) (S (i - S v))) with (nth_error (skipn (S v) b) (i - S v)).
    assert (s : forall (l : box) m j, nth_error (skipn m l) j = nth_error l (m + j)).
    { induction l; intros m j; destruct m; simpl; try reflexivity; [destruct j; reflexivity | apply IHl]. }
    rewrite s; f_equal; lia.
Qed.

Lemma halves_correct b v c x y : halves b v c = Some (x, y) ->
  within x b /\ within y b /\ (forall e, inside b e -> inside x e \/ inside y e).
Proof.
unfold halves; destruct (nth_error b v) as [r|] eqn:n; [|discriminate].
assert (len : (v < length b)%nat) by (apply nth_error_Some; congruence).
destruct (_ && _) eqn:h; [|discriminate]; intros k; injection k as <- <-; apply andb_true_iff in h as [lo hi].
assert (up : forall z, z <= rat c -> match high r with None => True | Some h => z <= rat h end).
{ intros z w; destruct (high r); [apply rle_le in hi; lra | exact I]. }
assert (down : forall z, rat c <= z -> if opened r then rat (low r) < z else rat (low r) <= z).
{ intros z w; destruct (opened r); [apply rlt_lt in lo | apply rle_le in lo]; lra. }
split; [|split].
- intros e i; apply inside_nth; intros j s f; rewrite inside_nth in i; pose proof (i j) as ij; rewrite (nth_set_nth b v _ j len) in ij.
  destruct (Nat.eqb_spec j v) as [->|]; [|apply ij, f]. rewrite n in f; injection f as <-.
  destruct (ij _ eq_refl) as [l u]; simpl in l, u; split; [exact l | apply up, u].
- intros e i; apply inside_nth; intros j s f; rewrite inside_nth in i; pose proof (i j) as ij; rewrite (nth_set_nth b v _ j len) in ij.
  destruct (Nat.eqb_spec j v) as [->|]; [|apply ij, f]. rewrite n in f; injection f as <-.
  destruct (ij _ eq_refl) as [l u]; simpl in l, u; split; [apply down, l | exact u].
- intros e i; pose proof (proj1 (inside_nth b e) i) as i'. destruct (i' v r n) as [l u].
  destruct (Rle_or_lt (e v) (rat c)); [left | right]; apply inside_nth; intros j s; rewrite (nth_set_nth b v _ j len);
    destruct (Nat.eqb_spec j v) as [->|]; try apply i'; intros g; injection g as <-; split; simpl; try assumption; lra.
Qed.

Lemma bisect_correct p t strict : forall depth v b, bisect p depth v b t strict = true ->
  (forall e, inside b e -> defined e t) -> forall e, inside b e -> good strict (eval e t).
Proof.
assert (here : forall b, enough strict (sign_of (enclose p (map (hull p) b) t)) = true -> (forall e, inside b e -> defined e t) ->
  forall e, inside b e -> good strict (eval e t)).
{ intros b h d e i; apply (good_of_sign _ _ _ h), sign_of_correct, enclose_correct; [apply hulls_correct, i | apply d, i]. }
induction depth as [|n IH]; intros v b; simpl; destruct (enough strict _) eqn:h; try (intros _; apply (here b h)); [discriminate|].
destruct (nth_error b v) as [r|]; [|discriminate].
destruct (halves b v (cut r)) as [[x y]|] eqn:hv; [|discriminate].
destruct (halves_correct _ _ _ _ _ hv) as (wx & wy & c).
destruct (bisect p n _ x t strict) eqn:bx; [|discriminate]; intros by_ d e i.
destruct (c e i) as [ix|iy]; [apply (IH _ _ bx); [|exact ix] | apply (IH _ _ by_); [|exact iy]];
  intros e' i'; apply d; [apply wx, i' | apply wy, i'].
Qed.

Lemma inside_app b r e : inside (b ++ [r]) e <-> inside b e /\ in_range r (e (length b)).
Proof.
unfold inside; assert (h : forall k, inside_from k (b ++ [r]) e <-> inside_from k b e /\ in_range r (e (k + length b)%nat)).
{ induction b as [|a b IH]; intros k; simpl; [rewrite Nat.add_0_r; tauto|]. rewrite IH, <- plus_n_Sm; simpl; tauto. }
apply h.
Qed.

Lemma inside_upd b r v x e : nth_error b v = Some r -> in_range r x -> inside b e -> inside b (upd e v x).
Proof.
intros n h i; apply inside_nth; intros j s f; unfold upd; destruct (Nat.eqb_spec j v) as [->|];
  [congruence | apply (proj1 (inside_nth b e) i j s f)].
Qed.

Lemma inside_upd_out b x e : inside b e -> inside b (upd e (length b) x).
Proof.
intros i; apply inside_nth; intros j s f; unfold upd; destruct (Nat.eqb_spec j (length b)) as [->|];
  [|apply (proj1 (inside_nth b e) i j s f)].
assert (h : (length b < length b)%nat) by (apply nth_error_Some; congruence); lia.
Qed.

(* The mean value theorem, in the form of the rule. *)
Lemma slope_below (g d : R -> R) a x : a <= x -> (forall s, a <= s <= x -> is_derive g s (d s)) -> (forall s, a <= s <= x -> 0 <= d s) -> g a <= g x.
Proof.
intros [ax| <-] df d0; [|apply Rle_refl].
destruct (MVT_cor2 g d a x ax) as (c & q & ac); [intros s hs; apply is_derive_Reals, df, hs|].
pose proof (Rmult_le_pos (d c) (x - a)) as h; specialize (d0 c); lra.
Qed.

Lemma exp_above m : 0 <= exp m + -1 + -1 * m.
Proof. destruct (Req_dec m 0) as [->|n]; [rewrite exp_0; lra|]; pose proof (exp_ineq1 m n); lra. Qed.

Theorem check_sound p : forall f b t strict, facts_hold b f -> check f b t strict p = true ->
  (forall e, inside b e -> defined e t) -> forall e, inside b e -> good strict (eval e t).
Proof.
induction p; intros f b u strict fh h d e i; simpl in h; rewrite ?andb_true_iff in h.
- apply (good_of_sign _ _ _ h), (sign_in_correct f b u e fh i), d, i.
- exact (bisect_correct _ u strict _ _ b h d e i).
- destruct (halves b v at_) as [[x y]|] eqn:hv; [|discriminate]; apply andb_true_iff in h as [hx hy].
  destruct (halves_correct _ _ _ _ _ hv) as (wx & wy & c).
  destruct (c e i) as [ix|iy].
  + apply (IHp1 f x u strict); [exact (facts_within _ _ _ wx fh) | exact hx | intros; apply d, wx; assumption | exact ix].
  + apply (IHp2 f y u strict); [exact (facts_within _ _ _ wy fh) | exact hy | intros; apply d, wy; assumption | exact iy].
- destruct h as [[s hp] hq]; pose proof (is_shown_correct f b factor fh s) as df.
  pose proof (IHp1 f b _ true fh hp df e i) as pos; simpl in pos.
  assert (k : good strict (eval e factor * eval e u)) by (apply (IHp2 f b _ strict fh hq); [intros; simpl; auto | exact i]).
  destruct strict; simpl in *.
  + destruct (Rlt_or_le 0 (eval e u)) as [?|w]; [assumption|].
    pose proof (Rmult_le_pos (eval e factor) (- eval e u)); lra.
  + destruct (Rle_or_lt 0 (eval e u)) as [?|w]; [assumption|].
    pose proof (Rmult_lt_0_compat (eval e factor) (- eval e u)); lra.
- destruct u as [| |x y| | | | | |]; try discriminate; rewrite !andb_true_iff in h; destruct h as [[s hx] hy].
  assert (kx : good strict_left (eval e x)) by (apply (IHp1 f b x _ fh hx); [intros; apply (d e0); assumption | exact i]).
  assert (ky : good strict_right (eval e y)) by (apply (IHp2 f b y _ fh hy); [intros; apply (d e0); assumption | exact i]).
  destruct strict, strict_left, strict_right; simpl in *; try discriminate; lra.
- destruct h as [[s q] r]; pose proof (is_shown_correct f b t fh s) as dt.
  rewrite (same_correct b f e u t fh i q (d e i) (dt e i)); apply (IHp f b t strict fh r dt e i).
- destruct h as [[sh hp] r]; pose proof (is_shown_correct f b s fh sh) as ds.
  refine (IHp2 _ b u strict _ r d e i).
  destruct fh as [fp fe]; split; simpl; [|exact fe]; intros e' i'; constructor; [|apply fp, i'].
  exact (IHp1 f b s true (conj fp fe) hp ds e' i').
- destruct h as [hr r]; refine (IHp _ b u strict _ r d e i).
  split; simpl; [apply fh|]; intros e' i'; constructor; [|apply fh, i'].
  simpl; intros ds; exact (reason_correct f b s t why e' fh hr i' ds).
- destruct (nth_error b v) as [r|] eqn:n; [|discriminate].
  destruct (if rising then _ else _) as [c|] eqn:hc; [|discriminate]; rewrite !andb_true_iff in h.
  destruct h as [[[[[[[hs hd] hq] lo] lo'] hi] hp] he].
  pose proof (is_shown_correct f b slope fh hd) as dd.
  assert (rc : in_range r (rat c)).
  { split; [destruct (opened r); [apply rlt_lt, lo' | apply rle_le, lo] | destruct (high r); [apply rle_le, hi | exact I]]. }
  assert (sm : forall e, inside b e -> smooth e u).
  { intros e' i'; exact (shown_smooth_correct prec b _ (positives f) e' i' eq_refl (proj1 fh e' i') u (d e' i') hs). }
  assert (seg : forall y, in_range r y -> inside b (upd e v y)) by (intros; apply (inside_upd b r); assumption).
  assert (er : in_range r (e v)) by (apply (proj1 (inside_nth b e) i v r n)).
  assert (der : forall y, in_range r y -> is_derive (fun z => eval (upd e v z) u) y (eval (upd e v y) (diff v u))).
  { intros y hy; apply derivative; [apply d, seg, hy | apply sm, seg, hy]. }
  assert (sl : forall y, in_range r y -> 0 <= eval (upd e v y) (if rising then diff v u else Mul (Num (-1) 1) (diff v u))).
  { intros y hy; rewrite (same_correct b f _ _ _ fh (seg y hy) hq).
    - exact (IHp1 f b slope false fh hp dd _ (seg y hy)).
    - assert (defined (upd e v y) (diff v u)) by (apply defined_diff; [apply d, seg, hy | apply sm, seg, hy]).
      destruct rising; simpl; tauto.
    - apply dd, seg, hy. }
  assert (ends : good strict (eval (upd e v (rat c)) u)).
  { change (rat c) with (eval e (Num (fst c) (snd c))); rewrite <- eval_subst; apply (IHp2 f b _ strict fh he); [|exact i].
    intros e' i'; apply defined_subst; [exact I|]; apply d, (inside_upd b r); assumption. }
  assert (le : eval (upd e v (rat c)) u <= eval (upd e v (e v)) u).
  { destruct rising.
    - destruct (opened r) eqn:op; [discriminate|]; injection hc as <-.
      apply (slope_below (fun z => eval (upd e v z) u) (fun z => eval (upd e v z) (diff v u))).
      + destruct er as [l _]; rewrite op in l; exact l.
      + intros s hs'; apply der; destruct er as [l h']; split; [rewrite op; apply hs' | destruct (high r); [lra | exact I]].
      + intros s hs'; apply sl; destruct er as [l h']; split; [rewrite op; apply hs' | destruct (high r); [lra | exact I]].
    - assert (rng : forall s, e v <= s <= rat c -> in_range r s).
      { intros s hs'; destruct er as [l _], rc as [_ h']; split; [destruct (opened r); lra | destruct (high r); [lra | exact I]]. }
      assert (k : - eval (upd e v (e v)) u <= - eval (upd e v (rat c)) u).
      { apply (slope_below (fun z => - eval (upd e v z) u) (fun z => - eval (upd e v z) (diff v u))).
        + destruct er as [_ h']; rewrite hc in h'; exact h'.
        + intros s hs'; apply @is_derive_opp, der, rng, hs'.
        + intros s hs'; specialize (sl s (rng s hs')); simpl in sl; unfold ratio in sl; lra. }
      lra. }
  rewrite (eval_ext (upd e v (e v)) e u (upd_same e v)) in le.
  destruct strict; simpl in *; lra.
- destruct h as [[[[[ha hg] hl] hh] hq] hr].
  pose proof (is_shown_correct f b a fh ha) as da.
  set (b' := b ++ [values]) in *.
  assert (w : within b' b) by (intros e' i'; apply inside_app in i'; apply i').
  pose proof (facts_within _ _ _ w fh) as fh'.
  pose proof (is_shown_correct f b' general fh' hg) as dg.
  assert (inr : forall e, inside b e -> in_range values (eval e a)).
  { intros e' i'; split.
    - assert (k : good (opened values) (eval e' (minus a (Num (fst (low values)) (snd (low values)))))).
      { apply (IHp1 f b _ _ fh hl); [|exact i']. intros e'' i''; simpl; repeat split; apply da, i''. }
      change (eval e' (minus a _)) with (eval e' a + -1 * rat (low values)) in k; destruct (opened values); simpl in k; lra.
    - destruct (high values) as [top|] eqn:hi'; [|exact I].
      assert (k : good false (eval e' (minus (Num (fst top) (snd top)) a))).
      { apply (IHp2 f b _ _ fh hh); [|exact i']. intros e'' i''; simpl; repeat split; apply da, i''. }
      change (eval e' (minus _ a)) with (rat top + -1 * eval e' a) in k; simpl in k; lra. }
  assert (out : forall e, inside b e -> inside b' (upd e (length b) (eval e a))).
  { intros e' i'; apply inside_app; split; [apply inside_upd_out, i'|].
    unfold upd; rewrite Nat.eqb_refl; apply inr, i'. }
  assert (k : good strict (eval (upd e (length b) (eval e a)) general)) by (apply (IHp3 f b' general strict fh' hr dg), out, i).
  rewrite <- eval_subst in k.
  rewrite (same_correct b f e _ _ fh i hq (d e i)); [exact k|].
  apply defined_subst; [apply da, i | apply dg, out, i].
- destruct h as [n q]; destruct strict; [discriminate|]; apply expr_eqb_eq in q; subst u; simpl; unfold ratio; apply exp_above.
- destruct u as [| | |x y| | | | |]; try discriminate; rewrite !andb_true_iff in h; destruct h as [[s hx] hy].
  destruct strict; [discriminate|]; simpl; apply Rmult_le_pos.
  + apply (IHp1 f b x false fh hx); [intros; apply (d e0); assumption | exact i].
  + apply (IHp2 f b y false fh hy); [intros; apply (d e0); assumption | exact i].
- destruct (check f b u strict p1) eqn:one; [exact (IHp1 f b u strict fh one d e i) | exact (IHp2 f b u strict fh h d e i)].
- destruct h as [n q]; destruct strict; [discriminate|]; apply expr_eqb_eq in q; subst u; simpl; unfold ratio.
  specialize (d e i); simpl in d; pose proof (exp_above (ln (eval e a))) as k; rewrite exp_ln in k by tauto; lra.
Qed.

(* What is accepted holds: the term is defined, and >= 0 (> 0), at every point of the box. *)
Theorem proves_sound p : forall f b t strict, facts_hold b f -> proves prec f b t strict p = true ->
  forall e, inside b e -> defined e t /\ good strict (eval e t).
Proof.
assert (direct : forall p f b t strict, facts_hold b f -> is_shown f b t && check f b t strict p = true ->
  forall e, inside b e -> defined e t /\ good strict (eval e t)).
{ intros q f b u strict fh h e i; apply andb_true_iff in h as [s c]; pose proof (is_shown_correct f b u fh s) as d.
  split; [apply d, i | exact (check_sound q f b u strict fh c d e i)]. }
induction p; intros f b u strict fh h; try exact (direct _ f b u strict fh h).
- simpl in h; rewrite !andb_true_iff in h; destruct h as [[sh hp] r]; pose proof (is_shown_correct f b s fh sh) as ds.
  refine (IHp2 _ b u strict _ r); destruct fh as [fp fe]; split; simpl; [|exact fe]; intros e' i'; constructor; [|apply fp, i'].
  exact (check_sound p1 f b s true (conj fp fe) hp ds e' i').
- simpl in h; destruct (proves prec f b u strict p1) eqn:one; [exact (IHp1 f b u strict fh one) | exact (IHp2 f b u strict fh h)].
Qed.
End Sound.

Definition nothing := Facts [] [].
Definition accepts (b : box) (t : expr) (strict : bool) (p : proof) : bool := proves (F.PtoP 60) nothing b t strict p.

Theorem accepted_is_true b t strict p : accepts b t strict p = true -> forall e, inside b e -> defined e t /\ good strict (eval e t).
Proof. apply proves_sound; split; intros; constructor. Qed.
