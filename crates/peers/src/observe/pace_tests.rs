//! Circles are cut and clients are not, in a simulated time.

use serde_json::value::RawValue;
use tectum_core::{Call, Gate, Rules, SessionId, Snapshot, Tectum, security::Allowlist};
use tectum_redact::Redactor;

use super::*;
use crate::observe::copies::Reader;

/// A house without tools: a call of it is refused, and copied twice all the same.
fn house() -> (Tectum, Arc<Copies>) {
    let scratch = tempfile::tempdir().expect("a scratch directory");
    let allowlist = Allowlist::builder().base(scratch.path()).build().expect("opens");
    let house = Tectum::new(Snapshot::of(&[]), Gate::new(Rules::default(), Arc::new(allowlist)));
    let (copies, _) = Copies::watching(&house, Redactor::none());
    (house, copies)
}

async fn call(house: &Tectum) {
    let args = RawValue::from_string("{}".into()).expect("JSON");
    let _ = house.call(Call::new(SessionId::new("s"), "x", args)).await;
}

/// Takes copies as an observer does, and calls back for each of them if it is one that does. Returns
/// how many it took.
async fn observer(house: Tectum, mut reader: Reader, rota: Arc<Rota>, calls_back: bool) -> u64 {
    let mut taken = 0;
    loop {
        let idle = rota.idle();
        let release = rota.release();
        while reader.next() < release.from && reader.take().0.is_some() {}
        if reader.next() >= release.upto {
            tokio::select! {
                () = idle.woken() => continue,
                () = sleep(HOLD * 20) => return taken,
            }
        }
        let _turn = rota.turn().await;
        let (Some(_), missed) = reader.take() else { continue };
        assert!(missed == 0 || calls_back, "nothing is lost to a client");
        taken += 1;
        if calls_back {
            let house = house.clone();
            tokio::spawn(async move {
                sleep(Duration::from_millis(1)).await;
                call(&house).await;
            });
        }
    }
}

/// A house with an observer, and what is discarded there.
async fn watched(calls_back: bool, clients: impl AsyncFn(&Tectum, &Copies)) -> (u64, u64, u64) {
    let (house, copies) = house();
    let rota = Arc::new(Rota::new(0));
    let mut pace = Pace::new(copies.clone(), rota.clone());
    let told = tokio::spawn(observer(house.clone(), copies.from_the_start(), rota, calls_back));
    let pacing = tokio::spawn(async move {
        let mut discarded = 0;
        while let Ok(more) = tokio::time::timeout(HOLD * 10, pace.step()).await {
            discarded += more;
        }
        discarded
    });
    clients(&house, &copies).await;
    (pacing.await.expect("ends"), told.await.expect("ends"), copies.copied())
}

#[tokio::test(start_paused = true)]
async fn calls_that_follow_on_copies_are_cut() {
    let (discarded, told, copied) = watched(true, async |house, _| call(house).await).await;
    assert!(discarded > 0);
    // Without a cut there is no end to it.
    assert!(told <= 2 * MANY && copied <= 4 * MANY, "{told} told, {copied} copied");
    println!("soak: calls that one call of a client becomes by an observer that calls back | {}", copied / 2);
}

#[tokio::test(start_paused = true)]
async fn a_circle_that_begins_anew_is_cut_sooner() {
    let counts = std::sync::Mutex::new(Vec::new());
    watched(true, async |house, copies| {
        for _ in 0..3 {
            let before = copies.copied();
            call(house).await;
            sleep(HOLD * 5).await;
            counts.lock().expect("whole").push(copies.copied() - before);
        }
    })
    .await;
    let counts = counts.into_inner().expect("whole");
    assert!(counts[1] < MANY / 2 && counts[2] < MANY / 2, "{counts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_burst_of_a_client_is_told_in_full_when_it_ended() {
    let burst = async |house: &Tectum, _: &Copies| {
        for _ in 0..MANY / 2 {
            call(house).await;
            sleep(Duration::from_millis(3)).await;
        }
    };
    let (discarded, told, copied) = watched(false, burst).await;
    assert_eq!((discarded, told, copied), (0, MANY, MANY));
}

#[tokio::test(start_paused = true)]
async fn clients_that_go_on_are_told_of_while_they_do() {
    let steady = async |house: &Tectum, _: &Copies| {
        for _ in 0..200 {
            call(house).await;
            sleep(Duration::from_millis(10)).await;
        }
    };
    let (discarded, told, copied) = watched(false, steady).await;
    assert_eq!((discarded, told), (0, copied));
}
