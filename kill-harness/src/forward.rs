//! The methods of a store that only ask, passed on to the store inside.

macro_rules! asks {
    ($inner:ident) => {
        fn get<'a>(
            &'a self,
            call: toolwright::CallId,
        ) -> futures::future::BoxFuture<
            'a,
            Result<Option<toolwright::journal::CallRecord>, toolwright::journal::StoreError>,
        > {
            self.$inner.get(call)
        }

        fn at<'a>(
            &'a self,
            place: &'a toolwright::journal::Place,
        ) -> futures::future::BoxFuture<
            'a,
            Result<Option<toolwright::journal::CallRecord>, toolwright::journal::StoreError>,
        > {
            self.$inner.at(place)
        }

        fn list<'a>(
            &'a self,
            filter: &'a toolwright::journal::Filter,
            page: toolwright::journal::Page,
        ) -> futures::future::BoxFuture<
            'a,
            Result<Vec<toolwright::journal::CallRecord>, toolwright::journal::StoreError>,
        > {
            self.$inner.list(filter, page)
        }

        fn history<'a>(
            &'a self,
            call: toolwright::CallId,
        ) -> futures::future::BoxFuture<
            'a,
            Result<Vec<toolwright::journal::Entry>, toolwright::journal::StoreError>,
        > {
            self.$inner.history(call)
        }

        fn document<'a>(
            &'a self,
            key: &'a str,
        ) -> futures::future::BoxFuture<
            'a,
            Result<Option<toolwright::journal::Document>, toolwright::journal::StoreError>,
        > {
            self.$inner.document(key)
        }

        fn documents<'a>(
            &'a self,
            prefix: &'a str,
        ) -> futures::future::BoxFuture<
            'a,
            Result<Vec<toolwright::journal::Document>, toolwright::journal::StoreError>,
        > {
            self.$inner.documents(prefix)
        }

        fn changed(&self) -> futures::future::BoxFuture<'_, ()> {
            self.$inner.changed()
        }

        fn file(&self) -> Option<&std::path::Path> {
            self.$inner.file()
        }
    };
}

pub(crate) use asks;
