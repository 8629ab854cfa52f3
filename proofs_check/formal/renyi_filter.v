(* Item 8, L2: the same filter for Renyi and zero-concentrated privacy, at natural orders (docs/ledger.md, Theorem L2). Costs and budgets are
   factors as in filter.v, and so is the rule; a round that costs c has the moment c^h of the order k in both directions, and the whole
   B^h. For one order alone h is 1, or any number. For zCDP c is e^rho, and h = k (k - 1) at every order k. *)
From mathcomp Require Import all_ssreflect all_algebra.
From PDP Require Import laws composition sampling filter approximate renyi.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Filter.
Variables (R : realFieldType) (U O : finType).
Implicit Types (D S : {set U}) (k h : nat).

Variables (M : seq O -> {set U} -> O -> R) (c : U -> seq O -> R) (B : U -> R).
Hypotheses (M_law : forall past S, is_law (M past S)) (B1 : forall u, 1 <= B u) (c1 : forall u past, 1 <= c u past).

(* The round after the past costs u at most the moment c^h of the order k, in both directions. *)
Definition costs k h := forall past S u, u \notin S ->
  renyi k (c u past ^+ h) (M past (u |: S)) (M past S) /\ renyi k (c u past ^+ h) (M past S) (M past (u |: S)).

Lemma filtered_renyi (sp : U -> seq O -> R) act n k h D u : costs k h -> u \notin D ->
  (forall past, 1 <= sp u past <= B u) -> sp u [::] = 1 ->
  (forall o past, sp u (o :: past) = sp u past * charged (c u) (act u) past) ->
  renyi k (B u ^+ h) (@filtered R U O M act n (u |: D)) (@filtered R U O M act n D) /\
  renyi k (B u ^+ h) (@filtered R U O M act n D) (@filtered R U O M act n (u |: D)).
Proof.
move=> cost uD b s1 s.
have m0 past S o : 0 <= M past S o by case: (M_law past S).
have g0 past : 0 < charged (c u) (act u) past ^+ h.
  by rewrite exprn_gt0 // /charged; case: ifP => _; rewrite ?ltr01 // (lt_le_trans _ (c1 u past)) ?ltr01.
have sb past : 0 <= sp u past ^+ h <= B u ^+ h.
  case/andP: (b past) => s1' sB; have s0 : 0 <= sp u past by rewrite (le_trans _ s1') ?ler01.
  by rewrite exprn_ge0 //; apply: ler_expn2r; rewrite ?nnegrE // (le_trans s0).
have se o past : sp u (o :: past) ^+ h = sp u past ^+ h * charged (c u) (act u) past ^+ h by rewrite s exprMn.
have sets past : [set v in u |: D | act v past] =
    if act u past then u |: [set v in D | act v past] else [set v in D | act v past].
  apply/setP=> v; case: ifP => a; rewrite !inE; case: (eqVneq v u) => [->|] //=; by rewrite ?a ?(negbTE uD).
have out past : u \notin [set v in D | act v past] by rewrite inE (negbTE uD).
have same past S : renyi k (1 ^+ h) (M past S) (M past S) by rewrite expr1n; split=> //; rewrite moment_refl.
have both past : renyi k (charged (c u) (act u) past ^+ h) (M past [set v in u |: D | act v past]) (M past [set v in D | act v past]) /\
    renyi k (charged (c u) (act u) past ^+ h) (M past [set v in D | act v past]) (M past [set v in u |: D | act v past]).
  by rewrite sets /charged; case: ifP => _; [apply: cost|split; apply: same].
split; split=> [t|]; try by apply: transcript_covers => past; case: (both past) => [[ac _] [ac' _]].
  have := @moment_rounds R O k _ _ _ _ _ (fun past o => m0 past [set v in u |: D | act v past] o)
    (fun past o => m0 past [set v in D | act v past] o) g0 sb se (fun past => (both past).1) n [::].
  by rewrite s1 expr1n mul1r.
have := @moment_rounds R O k _ _ _ _ _ (fun past o => m0 past [set v in D | act v past] o)
  (fun past o => m0 past [set v in u |: D | act v past] o) g0 sb se (fun past => (both past).2) n [::].
by rewrite s1 expr1n mul1r.
Qed.

(* L2 at one order: the whole transcript costs the unit u at most its budget. *)
Theorem renyi_filter n k h D u : costs k h -> u \notin D -> let act u := active (c u) (B u) in
  renyi k (B u ^+ h) (@filtered R U O M act n (u |: D)) (@filtered R U O M act n D) /\
  renyi k (B u ^+ h) (@filtered R U O M act n D) (@filtered R U O M act n (u |: D)).
Proof.
move=> cost uD act; apply: (@filtered_renyi (fun u => spent (c u) (B u))) => //.
  by move=> past; apply: spent_bounds.
by move=> o past; apply: spent_charged.
Qed.

Theorem renyi_filter_once_out n k h D u : costs k h -> u \notin D -> let act u := active_once (c u) (B u) in
  renyi k (B u ^+ h) (@filtered R U O M act n (u |: D)) (@filtered R U O M act n D) /\
  renyi k (B u ^+ h) (@filtered R U O M act n D) (@filtered R U O M act n (u |: D)).
Proof.
move=> cost uD act; apply: (@filtered_renyi (fun u past => (account (c u) (B u) past).1)) => //.
  by move=> past; apply: account_bounds.
by move=> o past; apply: account_charged.
Qed.

(* L2 for zCDP: a round that costs c = e^rho has D_k <= k rho at every order k >= 2, that is the moment c^(k (k - 1)). So has the whole, with B. *)
Theorem zcdp_filter n D u : (forall k, (1 < k)%N -> costs k (k * k.-1)) -> u \notin D -> let act u := active (c u) (B u) in
  forall k, (1 < k)%N ->
    renyi k (B u ^+ (k * k.-1)) (@filtered R U O M act n (u |: D)) (@filtered R U O M act n D) /\
    renyi k (B u ^+ (k * k.-1)) (@filtered R U O M act n D) (@filtered R U O M act n (u |: D)).
Proof. by move=> cost uD act k k1; apply: renyi_filter => //; apply: cost. Qed.

End Filter.
