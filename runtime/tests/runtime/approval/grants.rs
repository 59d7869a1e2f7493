//! Grants in a journal: given with an approval, revoked, read back.

use toolwright::approval::{
    ApprovalError, Grant, GrantError, GrantTerms, Grants, SignedStatement, Statement, TrustedKeys,
    UselessTerms,
};
use toolwright::journal::{DocumentWrite, MemoryStore, State, Store, Transaction};
use toolwright::unstable::approval::GrantCandidate;

use super::scene::{at, call_of, journal, pending, service, signed, terms, trusted};

const ASKED: GrantCandidate<'static> = GrantCandidate {
    tool: "send_mail",
    fingerprint: "f1",
    arguments: r#"{"to":"eve@example.org"}"#,
    run: "run-2",
    session: None,
    project: None,
    now: jiff::Timestamp::UNIX_EPOCH,
    used: 0,
};

async fn granted() -> (MemoryStore, Grant) {
    let store = journal([pending(1)]).await;
    let statement = Statement::approve_with_grant(&pending(1), terms(), "ada", at(5));
    let submitted = service(&store).submit(signed(&statement), at(6)).await.expect("granted");
    let grant = service(&store).grants(None).await.expect("grants").readable.pop().expect("one");
    assert_eq!(submitted.grant.as_ref(), Some(&grant.id));
    (store, grant)
}

#[tokio::test]
async fn a_grant_is_kept_with_the_approval_that_gives_it() {
    let (store, grant) = granted().await;
    assert_eq!(call_of(&store, pending(1).id).await.state, State::Ready);
    assert_eq!((grant.granted, grant.used, &grant.revoked), (at(6), 0, &None));
    assert_eq!(grant.terms(), Ok(terms()));
    let key = Grant::key("send_mail", &grant.id);
    let document = store.document(&key).await.expect("works").expect("kept");
    assert_eq!(Grant::from_text(&key, &document.text), Ok(grant));
}

#[tokio::test]
async fn an_approval_with_a_grant_said_again_makes_no_second_one() {
    let (store, grant) = granted().await;
    let again = service(&store).submit(grant.signed.clone(), at(7)).await.expect("recorded");
    assert_eq!((again.repeated, again.grant), (true, Some(grant.id)));
    assert_eq!(service(&store).grants(None).await.expect("grants").readable.len(), 1);
}

#[tokio::test]
async fn a_grant_that_does_not_fit_leaves_the_call_as_it_was() {
    let other = |change: fn(&mut GrantTerms)| {
        let mut terms = terms();
        change(&mut terms);
        terms
    };
    let cases = [
        other(|terms| terms.tool = "delete_mail".to_owned()),
        other(|terms| terms.fingerprint = "f0".to_owned()),
        other(|terms| terms.uses = Some(0)),
        other(|terms| terms.until = Some(at(6))),
        other(|terms| terms.arguments[0].pointer = "to".to_owned()),
        other(|terms| terms.arguments[0].pointer = "/~2".to_owned()),
        other(|terms| terms.arguments[0].is_one_of.clear()),
        other(|terms| terms.arguments[0].is_one_of.push("eve".to_owned())),
    ];
    for (number, terms) in cases.into_iter().enumerate() {
        let store = journal([pending(1)]).await;
        let statement = Statement::approve_with_grant(&pending(1), terms, "ada", at(5));
        let error = service(&store).submit(signed(&statement), at(6)).await.expect_err("useless");
        match number {
            0 | 1 => assert!(matches!(error, ApprovalError::OtherTool { .. }), "{number}: {error}"),
            _ => assert!(matches!(error, ApprovalError::Terms { .. }), "{number}: {error}"),
        }
        assert_eq!(call_of(&store, pending(1).id).await, pending(1));
        assert_eq!(service(&store).grants(None).await, Ok(Grants::default()));
    }
    assert_eq!(terms().check(at(7200)), Err(UselessTerms::Ended(at(7200))));
    assert_eq!(terms().check(at(7199)), Ok(()));
}

#[tokio::test]
async fn a_revoked_grant_covers_nothing_and_is_revoked_once() {
    let (store, grant) = granted().await;
    assert_eq!(grant.covers(&ASKED, &trusted()), Ok(()));
    let first = signed(&Statement::revoke(&grant.id, "bob", at(8)));
    let done = service(&store).submit(first.clone(), at(8)).await.expect("revoked");
    assert_eq!((done.who.as_str(), done.repeated), ("bob", false));
    let second = signed(&Statement::revoke(&grant.id, "ada", at(9)));
    for again in [first.clone(), second] {
        let done = service(&store).submit(again, at(9)).await.expect("revoked before");
        assert_eq!((done.who.as_str(), done.at, done.repeated), ("bob", at(8), true));
    }
    let now = service(&store)
        .grants(Some("send_mail"))
        .await
        .expect("grants")
        .readable
        .pop()
        .expect("one");
    assert_eq!(now.revoked, Some(first));
    assert_eq!(now.covers(&ASKED, &trusted()), Err(GrantError::Revoked { id: grant.id }));
}

#[tokio::test]
async fn a_grant_that_is_not_there_is_not_revoked() {
    let (store, grant) = granted().await;
    for id in ["", "g", &format!("send_mail/{}", grant.id)] {
        let revoke = signed(&Statement::revoke(id, "ada", at(8)));
        let error = service(&store).submit(revoke, at(8)).await.expect_err("no grant");
        assert_eq!(error, ApprovalError::UnknownGrant { id: id.to_owned() });
    }
}

#[tokio::test]
async fn grants_are_listed_by_tool_even_where_names_begin_alike() {
    let store = journal([]).await;
    let (_, grant) = granted().await;
    for tool in ["mail", "mail/send", "mailbox"] {
        let write = DocumentWrite {
            key: Grant::key(tool, &grant.id),
            expects: None,
            text: Some(grant.to_text()),
        };
        let unit = Transaction { calls: Vec::new(), documents: vec![write] };
        store.commit(unit, at(0)).await.expect("a document");
    }
    for (tool, count) in [(None, 3), (Some("mail"), 1), (Some("mail/send"), 1), (Some("ma"), 0)] {
        assert_eq!(
            service(&store).grants(tool).await.expect("grants").readable.len(),
            count,
            "{tool:?}"
        );
    }
}

#[tokio::test]
async fn a_grant_that_cannot_be_read_hides_none_of_the_others() {
    let (store, grant) = granted().await;
    let renamed = Grant { id: "renamed".to_owned(), ..grant.clone() };
    let misplaced = Grant::key("send_mail", "elsewhere");
    let texts = [
        (Grant::key("send_mail", "broken"), "{".to_owned()),
        (Grant::key("send_mail", "renamed"), renamed.to_text()),
        (misplaced, grant.to_text()),
        (Grant::key("other", "broken"), "{".to_owned()),
    ];
    for (key, text) in texts {
        let write = DocumentWrite { key, expects: None, text: Some(text) };
        let unit = Transaction { calls: Vec::new(), documents: vec![write] };
        store.commit(unit, at(0)).await.expect("a document");
    }
    let all = service(&store).grants(None).await.expect("grants");
    assert_eq!((&all.readable[..], all.unreadable.len()), (&[grant.clone()][..], 4));
    let of_one = service(&store).grants(Some("send_mail")).await.expect("grants");
    assert_eq!((of_one.readable.len(), of_one.unreadable.len()), (1, 3));
    let words: Vec<_> = of_one.unreadable.iter().map(ToString::to_string).collect();
    assert!(words.iter().any(|it| it.contains("`grant/send_mail/broken`")), "{words:?}");
    let revoke = signed(&Statement::revoke(&grant.id, "ada", at(8)));
    service(&store).submit(revoke, at(8)).await.expect("revoked all the same");
}

#[tokio::test]
async fn a_grant_counts_only_while_its_granter_is_trusted_and_its_text_is_as_signed() {
    let (_, grant) = granted().await;
    let unverified = |grant: &Grant, trusted: &TrustedKeys| {
        matches!(grant.covers(&ASKED, trusted), Err(GrantError::Unverified { .. }))
    };
    assert!(unverified(&grant, &TrustedKeys::new()));
    let text = grant.signed.text.replace(r#""uses":2"#, r#""uses":9"#);
    assert_ne!(text, grant.signed.text);
    let wider = Grant { signed: SignedStatement { text, ..grant.signed.clone() }, ..grant.clone() };
    assert!(unverified(&wider, &trusted()));
    let renamed = Grant { id: Grant::id_of(pending(1).id, 2), ..grant.clone() };
    assert!(matches!(renamed.covers(&ASKED, &trusted()), Err(GrantError::Unreadable { .. })));
    let used = Grant { used: 2, ..grant };
    assert!(matches!(used.covers(&ASKED, &trusted()), Err(GrantError::NotCovered { .. })));
}

#[tokio::test]
async fn a_grant_of_a_later_version_is_refused_with_what_to_do() {
    let (_, grant) = granted().await;
    let text = grant.to_text();
    let later = text.replacen(r#""format":1"#, r#""format":2,"more":true"#, 1);
    let error = Grant::from_text("grant/t/1", &later).expect_err("a later version");
    assert_eq!(
        error.to_string(),
        "`grant/t/1` is a grant of format 2, and this version reads format 1: update"
    );
    for text in ["", "{}", "[]", &text.replacen('{', r#"{"more":1,"#, 1)] {
        let error = Grant::from_text("grant/t/1", text).expect_err("no grant");
        assert!(matches!(error, GrantError::Unreadable { .. }), "{text}");
    }
}
